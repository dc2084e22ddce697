// The code that only packs need, in one chunk, which load-pack-code.ts loads.
import type { Connection } from '../sqlite/connection.ts';
import { decodePack, encodePack } from './changeset-pack.ts';
import { CHANGELOG_COLUMNS, toStoredChangeset, type StoredChangeset } from './stored-changeset.ts';

export { decodePack } from './changeset-pack.ts';

/** The number of changesets that are packed together. Fewer compress worse, and more stay unpacked. */
const RUN = 32;

/**
 * A pack is extended up to this number of changesets or bytes. A larger one would gain little, and every read inflates
 * the whole pack.
 */
const MAX_PACKED = 256;
const MAX_PACKED_BYTES = 128 * 1024;

/** Larger changesets stay unpacked: compressing them would hold the transaction for milliseconds. */
const MAX_CHANGESET_BYTES = 16 * 1024;

/**
 * Packs the next run of changesets from `from` up to `upTo`, if it is complete. Returns the sequence to continue from:
 * everything before it is packed or stays unpacked.
 */
export function packRun(connection: Connection, from: number, upTo: number): number {
  if (upTo - from < RUN) return from;
  const run = nextRun(connection, from, upTo);
  if (run.length === RUN) store(connection, run);
  const end = run.at(-1)?.sequence ?? upTo;
  // A shorter run either ends at a changeset that stays unpacked, or may still become longer.
  return run.length === RUN || run.length === 0 || end < upTo ? end + 1 : from;
}

/** Moves the contents of a pack back to rockpool_changelog. */
export function moveBack(connection: Connection, changesets: readonly StoredChangeset[]): void {
  connection.run('DELETE FROM rockpool_changelog_pack WHERE last = ?', changesets.at(-1)?.sequence ?? 0);
  for (const { sequence, stampUs, base, hash, body, before, shiftUs, origin } of changesets)
    connection.run(
      `INSERT INTO rockpool_changelog (${CHANGELOG_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      sequence,
      stampUs,
      base,
      hash,
      body,
      before,
      shiftUs,
      origin,
    );
}

/** The longest run of packable changesets from `from` on, at most RUN. */
function nextRun(connection: Connection, from: number, upTo: number): StoredChangeset[] {
  const statement = connection.prepare(
    `SELECT ${CHANGELOG_COLUMNS} FROM rockpool_changelog WHERE sequence BETWEEN ? AND ? AND length(body) + length(before) <= ${MAX_CHANGESET_BYTES} AND origin IS NULL
       AND sequence NOT IN (SELECT sequence FROM rockpool_parked) ORDER BY sequence`,
  );
  const run: StoredChangeset[] = [];
  try {
    statement.bindParams([from, upTo]);
    while (run.length < RUN && statement.step()) {
      const changeset = toStoredChangeset(statement.readValues());
      const previous = run.at(-1);
      if (previous !== undefined && changeset.sequence !== previous.sequence + 1) break;
      run.push(changeset);
    }
  } finally {
    statement.release();
  }
  return run;
}

/** Adds a run to the pack before it, or creates a new pack. */
function store(connection: Connection, run: readonly StoredChangeset[]): void {
  const [{ sequence: first }, last] = [run[0] as StoredChangeset, run.at(-1) as StoredChangeset];
  const before = packEndingWith(connection, first - 1);
  const isExtended =
    before.length > 0 && before.length + run.length <= MAX_PACKED && bytesOf(before) + bytesOf(run) <= MAX_PACKED_BYTES;
  const changesets = isExtended ? [...before, ...run] : run;
  const packed = encodePack(changesets);
  if (packed === null) return;
  if (isExtended) connection.run('DELETE FROM rockpool_changelog_pack WHERE last = ?', first - 1);
  connection.run('DELETE FROM rockpool_changelog WHERE sequence BETWEEN ? AND ?', first, last.sequence);
  connection.run(
    'INSERT INTO rockpool_changelog_pack (last, first, packed) VALUES (?, ?, ?)',
    last.sequence,
    (changesets[0] as StoredChangeset).sequence,
    packed,
  );
}

/** The changesets of the pack that ends with `last`; empty without such a pack. */
function packEndingWith(connection: Connection, last: number): StoredChangeset[] {
  return connection
    .rows('SELECT packed, first FROM rockpool_changelog_pack WHERE last = ?', last)
    .flatMap(([packed, first]) => decodePack(packed as Uint8Array, first as number));
}

function bytesOf(changesets: readonly StoredChangeset[]): number {
  return changesets.reduce((sum, { body, before }) => sum + body.length + before.length, 0);
}
