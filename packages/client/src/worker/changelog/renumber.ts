import { changesetHash, encodeOrigin, FIRST_PREVIOUS_HASH } from '@rockpool/shared';
import { lowestSequence } from './lowest-sequence.ts';
import type { MovedChangesets } from './move-earlier-sites.ts';
import { keepBefore, moveChangeset, moveRequests } from './move-changesets.ts';
import { WITHDRAWN } from './withdrawn.ts';
import type { Connection } from '../sqlite/connection.ts';

export interface RenumberOptions {
  readonly oldSiteId: Uint8Array;
  /** The log epoch of the server, which has the changesets before `firstOwn`; null if unknown. */
  readonly logEpoch: Uint8Array | null;
  readonly firstOwn: number;
}

/**
 * Renumbers the changesets from `firstOwn` on, starting at 1, for a new site. Bodies stay the same, the hash chain is
 * new, and every changeset is pending. Each keeps its first site, sequence and hash as its origin, by which the server
 * recognizes it if a copy of this file has sent it too.
 *
 * - Changesets before `firstOwn` are on the server already and are kept for a restored server (kept-changesets.ts).
 * - Rejected changesets before `firstOwn`, and withdrawn ones, move to sequences below 0, out of the outbox, and keep
 *   their order.
 * - Closed changesets are removed. Their entries move below 0 as well, so that their requests are not attributed to the
 *   changesets that take over their sequences.
 *
 * Call in a transaction. `numberOf` returns the new sequence of the last changeset up to an old one.
 */
export function renumber(connection: Connection, { oldSiteId, logEpoch, firstOwn }: RenumberOptions): MovedChangesets {
  const lastHash = connection.value('SELECT hash FROM rockpool_changelog WHERE sequence = ?', firstOwn - 1);
  forgetPruned(connection);
  storeOrigins(connection, oldSiteId);
  const lastAckedSequence = (connection.value('SELECT max(up_to) FROM rockpool_decided') ?? 0) as number;
  // Removes the entries of masked changesets whose outcome the server has from another copy of the file: a delivery
  // contains their rows.
  connection.run('DELETE FROM rockpool_parked WHERE sequence < ? AND sequence > ?', firstOwn, lastAckedSequence);
  // Rejected changesets are listed by sequence, so that those of an earlier change of the site id move below the newer
  // ones.
  const rejected =
    'SELECT sequence FROM rockpool_parked WHERE closed = 1 OR sequence < ? OR code = ? ORDER BY closed, sequence DESC';
  let lowest = lowestSequence(connection);
  for (const [sequence] of connection.rows(rejected, firstOwn, WITHDRAWN)) {
    moveChangeset(connection, sequence as number, --lowest);
    connection.run('UPDATE rockpool_request SET sequence = ? WHERE sequence = ?', lowest, sequence as number);
  }
  renumberKeptRequests(
    connection,
    Math.min(lastAckedSequence, firstOwn - 1),
    keepBefore(connection, logEpoch, firstOwn, lowest),
  );
  connection.run(
    'DELETE FROM rockpool_changelog WHERE sequence > 0 AND sequence < ? OR sequence IN (SELECT sequence FROM rockpool_parked WHERE closed = 1)',
    firstOwn,
  );

  renumberRequests(connection, firstOwn);

  const sequences = connection
    .rows('SELECT sequence FROM rockpool_changelog WHERE sequence > 0 ORDER BY sequence')
    .flat() as number[];
  let number = 0;
  let hash: Uint8Array = FIRST_PREVIOUS_HASH;
  for (const sequence of sequences) {
    const [row] = connection.rows('SELECT stamp_us, base, body FROM rockpool_changelog WHERE sequence = ?', sequence);
    const [stampUs, base, body] = row as [number, number, Uint8Array];
    hash = changesetHash(hash, { sequence: ++number, stampUs, base, body });
    // Sequences only become smaller, in order, so no two of them collide.
    moveChangeset(connection, sequence, number);
    connection.run('UPDATE rockpool_changelog SET hash = ? WHERE sequence = ?', hash, number);
  }
  connection.exec('DELETE FROM rockpool_decided');
  return {
    last: lastHash === undefined ? null : { siteId: oldSiteId, sequence: firstOwn - 1, hash: lastHash as Uint8Array },
    numberOf: (upTo) => sequences.filter((sequence) => sequence <= upTo).length,
  };
}

/** Call before sequences and hashes change. */
function storeOrigins(connection: Connection, siteId: Uint8Array): void {
  for (const [sequence, hash] of connection.rows(
    'SELECT sequence, hash FROM rockpool_changelog WHERE sequence > 0 AND origin IS NULL',
  ) as [number, Uint8Array][])
    connection.run(
      'UPDATE rockpool_changelog SET origin = ? WHERE sequence = ?',
      encodeOrigin({ siteId, sequence, hash }),
      sequence,
    );
}

/** Call before sequences below 0 are assigned: those of pruned changesets are assigned again. */
function forgetPruned(connection: Connection): void {
  connection.exec(
    `UPDATE rockpool_request SET sequence = 0 WHERE sequence < 0
       AND sequence NOT IN (SELECT sequence FROM rockpool_changelog UNION SELECT sequence FROM rockpool_parked)`,
  );
}

/**
 * Lets users undo the transactions of acknowledged changesets that are kept. Changesets that have left the rows are not
 * undone: a delivery brings them back.
 */
function renumberKeptRequests(connection: Connection, lastShown: number, numbers: ReadonlyMap<number, number>): void {
  moveRequests(connection, new Map([...numbers].filter(([sequence]) => sequence <= lastShown)));
}

/**
 * Gives each request the new sequence of its changeset, so that its write state stays known. Other requests whose
 * changesets are already on the server receive 0, which counts as acknowledged.
 */
function renumberRequests(connection: Connection, firstOwn: number): void {
  connection.run(
    `UPDATE rockpool_request AS request SET sequence = CASE WHEN sequence < ? THEN 0
       ELSE (SELECT count(*) FROM rockpool_changelog WHERE sequence > 0 AND sequence <= request.sequence) END
     WHERE sequence > 0`,
    firstOwn,
  );
}
