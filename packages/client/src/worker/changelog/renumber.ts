import { changesetHash, FIRST_PREVIOUS_HASH } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/**
 * Numbers the changesets from `firstOwn` on from 1, for a site that has written nothing yet: what they say stays, their
 * chain of hashes is new, and nothing of it is decided. Those before it are on the server already and go; so do those
 * that the user has decided against. What was refused is kept under numbers below 0, out of the outbox: changesets that
 * still wait for the user, and of the others that they were refused, or their requests would be taken for those of the
 * changesets beside them.
 *
 * Call in a transaction. Returns the new number of the last changeset up to `mark`.
 */
export function renumber(connection: Connection, firstOwn: number, mark: number): number {
  const lastAckedSequence = (connection.value('SELECT max(up_to) FROM rockpool_decided') ?? 0) as number;
  // Masked here, and decided there for another copy: its fate comes by the stream.
  connection.run('DELETE FROM rockpool_parked WHERE sequence < ? AND sequence > ?', firstOwn, lastAckedSequence);
  const rejected = 'SELECT sequence FROM rockpool_parked WHERE sequence > 0 AND (closed = 1 OR sequence < ?)';
  let lowest = lowestSequence(connection);
  for (const [sequence] of connection.rows(rejected, firstOwn)) {
    move(connection, sequence as number, --lowest);
    connection.run(
      "UPDATE rockpool_request SET outcome_json = json_set(outcome_json, '$.sequence', ?) WHERE json_extract(outcome_json, '$.sequence') = ?",
      lowest,
      sequence as number,
    );
  }
  connection.run(
    'DELETE FROM rockpool_changelog WHERE sequence > 0 AND sequence < ? OR sequence IN (SELECT sequence FROM rockpool_parked WHERE closed = 1)',
    firstOwn,
  );

  renumberRequests(connection, firstOwn);

  let number = 0;
  let marked = 0;
  let hash: Uint8Array = FIRST_PREVIOUS_HASH;
  for (const [sequence] of connection.rows(
    'SELECT sequence FROM rockpool_changelog WHERE sequence > 0 ORDER BY sequence',
  ) as [number][]) {
    const [row] = connection.rows('SELECT stamp_us, base, body FROM rockpool_changelog WHERE sequence = ?', sequence);
    const [stampUs, base, body] = row as [number, number, Uint8Array];
    hash = changesetHash(hash, { sequence: ++number, stampUs, base, body });
    // Never onto another one: numbers only become smaller, from the first on.
    move(connection, sequence, number);
    connection.run('UPDATE rockpool_changelog SET hash = ? WHERE sequence = ?', hash, number);
    if (sequence <= mark) marked = number;
  }
  connection.exec('DELETE FROM rockpool_decided');
  return marked;
}

/** The lowest number that anything has; 0 where nothing is below. */
export function lowestSequence(connection: Connection): number {
  return connection.value(
    'SELECT min(0, ifnull((SELECT min(sequence) FROM rockpool_changelog), 0), ifnull((SELECT min(sequence) FROM rockpool_parked), 0))',
  ) as number;
}

/**
 * Whoever waits for the outcome of a write finds it under its new number; what is on the server already, under 0: it is
 * decided.
 */
function renumberRequests(connection: Connection, firstOwn: number): void {
  const own = `(SELECT count(*) FROM rockpool_changelog WHERE sequence > 0 AND sequence <= json_extract(outcome_json, '$.sequence'))`;
  connection.run(
    `UPDATE rockpool_request SET outcome_json = json_set(outcome_json, '$.sequence', CASE WHEN json_extract(outcome_json, '$.sequence') < ? THEN 0 ELSE ${own} END)
     WHERE json_extract(outcome_json, '$.sequence') > 0`,
    firstOwn,
  );
}

function move(connection: Connection, from: number, to: number): void {
  connection.run('UPDATE rockpool_changelog SET sequence = ? WHERE sequence = ?', to, from);
  connection.run('UPDATE rockpool_parked SET sequence = ? WHERE sequence = ?', to, from);
}
