// The code that only packs need, in one chunk, which load-pack-code.ts loads.
import type { Connection } from '../sqlite/connection.ts';
import { decodePack, encodePack, inflatedBytesOf } from './changeset-pack.ts';
import { CHANGELOG_COLUMNS, toStoredChangeset, type StoredChangeset } from './stored-changeset.ts';

export { decodePack } from './changeset-pack.ts';

/** The least number of changesets in a pack. Fewer compress worse, and more stay unpacked. */
const RUN = 32;

/**
 * A pack with this many changesets, or this many bytes of them, stays as it is. Smaller packs are joined once they
 * reach that size together, so a changeset is compressed at most twice. Larger packs gain little, and a read inflates
 * all of one.
 */
const FULL = 128;
const FULL_BYTES = 64 * 1024;

/** Larger changesets stay unpacked: compressing them would hold the transaction for milliseconds. */
const MAX_CHANGESET_BYTES = 16 * 1024;

/**
 * Packs the next run of changesets from `from` up to `upTo`, if it is long enough. Returns the sequence to continue
 * from: everything before it is packed or stays unpacked.
 */
export function packRun(connection: Connection, from: number, upTo: number): number {
  if (upTo - from + 1 < RUN) return from;
  let run = nextRun(connection, from, upTo);
  if (run.length >= RUN && !store(connection, run)) {
    // One changeset does not follow from the others. As few as possible stay unpacked.
    run = run.slice(0, RUN);
    store(connection, run);
  }
  const end = run.at(-1)?.sequence ?? upTo;
  // A shorter run either ends at a changeset that stays unpacked, or may still become longer.
  return run.length >= RUN || run.length === 0 || end < upTo ? end + 1 : from;
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

/** The longest run of packable changesets from `from` on, up to a full pack. */
function nextRun(connection: Connection, from: number, upTo: number): StoredChangeset[] {
  const statement = connection.prepare(
    `SELECT ${CHANGELOG_COLUMNS} FROM rockpool_changelog WHERE sequence BETWEEN ? AND ? AND length(body) + length(before) <= ${MAX_CHANGESET_BYTES} AND origin IS NULL
       AND sequence NOT IN (SELECT sequence FROM rockpool_parked) ORDER BY sequence`,
  );
  const run: StoredChangeset[] = [];
  let sizeBytes = 0;
  try {
    statement.bindParams([from, upTo]);
    while ((run.length < RUN || !isFull(run.length, sizeBytes)) && statement.step()) {
      const changeset = toStoredChangeset(statement.readValues());
      const previous = run.at(-1);
      if (previous !== undefined && changeset.sequence !== previous.sequence + 1) break;
      run.push(changeset);
      sizeBytes += changeset.body.length + changeset.before.length;
    }
  } finally {
    statement.release();
  }
  return run;
}

function isFull(changesets: number, sizeBytes: number): boolean {
  return changesets >= FULL || sizeBytes >= FULL_BYTES;
}

/**
 * Packs a run, together with the packs before it that are not full, if they make a full one. Returns false if the
 * changesets do not follow from each other.
 */
function store(connection: Connection, run: readonly StoredChangeset[]): boolean {
  const first = (run[0] as StoredChangeset).sequence;
  const last = (run.at(-1) as StoredChangeset).sequence;
  const before = packsToJoin(connection, first, run);
  const changesets = [...before.flatMap((pack) => decodePack(pack.packed, pack.first)), ...run];
  const packed = encodePack(changesets);
  if (packed === null) return false;
  connection.run('DELETE FROM rockpool_changelog_pack WHERE last BETWEEN ? AND ?', before[0]?.first ?? first, last);
  connection.run('DELETE FROM rockpool_changelog WHERE sequence BETWEEN ? AND ?', first, last);
  connection.run(
    'INSERT INTO rockpool_changelog_pack (last, first, packed) VALUES (?, ?, ?)',
    last,
    before[0]?.first ?? first,
    packed,
  );
  return true;
}

interface SmallPack {
  readonly first: number;
  readonly packed: Uint8Array;
}

/** The packs right before a run, in order, if they are not full and make a full one with it. Otherwise none. */
function packsToJoin(connection: Connection, first: number, run: readonly StoredChangeset[]): SmallPack[] {
  const packs: SmallPack[] = [];
  let count = run.length;
  let sizeBytes = bytesOf(run);
  let next = first;
  while (!isFull(count, sizeBytes)) {
    const [row] = connection.rows('SELECT first, packed FROM rockpool_changelog_pack WHERE last = ?', next - 1);
    if (row === undefined) return [];
    const [start, packed] = row as [number, Uint8Array];
    if (isFull(next - start, inflatedBytesOf(packed))) return [];
    packs.unshift({ first: start, packed });
    count += next - start;
    sizeBytes += inflatedBytesOf(packed);
    next = start;
  }
  return packs;
}

function bytesOf(changesets: readonly StoredChangeset[]): number {
  return changesets.reduce((sum, { body, before }) => sum + body.length + before.length, 0);
}
