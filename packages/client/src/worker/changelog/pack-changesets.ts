import type { Connection } from '../sqlite/connection.ts';
import { encodePack } from './changeset-pack.ts';
import { CHANGELOG_COLUMNS, toStoredChangeset, type StoredChangeset } from './stored-changeset.ts';

export { decodePack } from './changeset-pack.ts';

/**
 * A run is packed when it has this many changesets or bytes, so each changeset is compressed only once. Larger packs
 * would save little more, and a read has to inflate a whole pack.
 */
const FULL = 128;
const FULL_BYTES = 64 * 1024;

/**
 * The minimum number of changesets in a pack that is not full because the next changeset must stay unpacked. A shorter
 * run would compress badly. Also the number of new changesets after which the size of a run is computed again.
 */
const LEAST = 32;

/** Larger changesets stay unpacked: compressing them would hold the transaction for milliseconds. */
const MAX_CHANGESET_BYTES = 16 * 1024;

/** Where packing continues. */
export interface Unpacked {
  /** All changesets before this sequence are packed or stay unpacked. */
  from: number;
  /** The next pack is tried once this sequence is decided. */
  againAt: number;
}

/** Packs the next run of changesets up to `upTo`, if there are enough for a full one. */
export function packRun(connection: Connection, unpacked: Unpacked, upTo: number): void {
  const { from, againAt } = unpacked;
  if (upTo < againAt) return;
  unpacked.againAt = upTo + LEAST;
  if (!areEnough(connection, from, upTo)) return;
  let run = nextRun(connection, from, upTo);
  if (run.length >= LEAST && !store(connection, run)) {
    // The hash or stamp of one changeset does not follow from the one before. The run is shortened, so that few
    // changesets stay unpacked because of it.
    run = run.slice(0, LEAST);
    store(connection, run);
  }
  unpacked.from = (run.at(-1)?.sequence ?? upTo) + 1;
  unpacked.againAt = unpacked.from + LEAST - 1;
}

function areEnough(connection: Connection, from: number, upTo: number): boolean {
  if (upTo - from + 1 >= FULL) return true;
  const sizeBytes = connection.value(
    'SELECT sum(length(body) + length(before)) FROM rockpool_changelog WHERE sequence BETWEEN ? AND ?',
    from,
    upTo,
  );
  return ((sizeBytes ?? 0) as number) >= FULL_BYTES;
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
    while (run.length < FULL && sizeBytes < FULL_BYTES && statement.step()) {
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

/** Packs a run. Returns false if the changesets are not consecutive. */
function store(connection: Connection, run: readonly StoredChangeset[]): boolean {
  const first = (run[0] as StoredChangeset).sequence;
  const last = (run.at(-1) as StoredChangeset).sequence;
  const packed = encodePack(run);
  if (packed === null) return false;
  connection.run('DELETE FROM rockpool_changelog WHERE sequence BETWEEN ? AND ?', first, last);
  connection.run('INSERT INTO rockpool_changelog_pack (last, first, packed) VALUES (?, ?, ?)', last, first, packed);
  return true;
}
