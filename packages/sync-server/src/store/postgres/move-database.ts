import { RockpoolError, type CellValue } from '@rockpool/shared';
import { type Connection, NAMESPACE } from '../../postgres/connection.ts';
import { deleteRows } from './delete-rows.ts';
import { moveEnded, type Move } from './directory.ts';
import { requireSchema, storedRows } from './load-copy.ts';
import { DATABASE_COLUMN, type MirroredTable } from './mirrored-table.ts';
import { DatabaseMarked, isSameMark, lockMark, writeMark, type MoveMark } from './move-mark.ts';
import { isSamePosition, writeCommit } from './postgres-database.ts';
import type { OpenShard, Shards } from './shards.ts';
import { inParts } from './row-parts.ts';
import { readStoredChanges, type StoredChange } from './stored-change.ts';
import type { CommitPosition } from './working-copy.ts';
import { rowStatement } from './write-changes.ts';

/** Bounds the time of one statement. */
const ROWS_PER_STATEMENT = 2_000;
const COMMITS_PER_ROUND = 100;

type Report = (step: string) => void;

/**
 * Moves a database to another shard while clients use it. A kill may follow any of the steps:
 *
 *   1  begin      the directory names the move; an earlier one that was interrupted no longer counts
 *   2  copy       all rows as of one commit, in one transaction at the target, where the mark keeps instances away
 *   3  follow     the commits since then, in their order, until few are left
 *   4  freeze     the mark at the source: no instance commits there any more, and sessions end
 *   5  follow     the last commits
 *   6  switch     the directory names the target: one row; from then on, the database has moved
 *   7  activate   the mark at the target is removed, and instances open the database there
 *   8  clean up   the rows at the source are deleted; the mark stays, for instances that still look there
 *
 * Identity, log epoch, watermarks and outcomes are rows like others, so clients continue where they were. After a kill,
 * calling this again completes the move. Otherwise, instances undo the freeze or finish the activation by themselves
 * (sharded-store.ts). Throws `storage-missing` or `config-invalid`, and `database-unavailable` if a later call may
 * succeed.
 */
export async function moveDatabase(databaseId: string, to: string, shards: Shards, report: Report): Promise<void> {
  await shards.ready();
  const { directory } = shards;
  const target = await shards.use(to);
  await finishEarlier(databaseId, shards, report);
  // A database from the time before shards may not be in the directory yet.
  if ((await directory.find(databaseId)) === null && (await shards.first.store.list()).includes(databaseId))
    await directory.place(databaseId, shards.all, () => false);
  const move = await directory.beginMove(databaseId, to);
  if (move === null) return report(`${databaseId} is at ${to}`);
  const source = await shards.use(move.from);
  const mark = (await source.store.marked()).get(databaseId);
  if (mark?.role === 'deleted') throw new DatabaseMarked(mark);
  await requireSameSchema(source, target);
  report(`moving ${databaseId} from ${move.from} to ${to}`);
  const renew = (): Promise<void> => directory.renewMove(move);
  const follow = async (from: CommitPosition): Promise<CommitPosition> => {
    for (let position = from; ;) {
      await renew();
      const next = await followRound(move, source, target, position);
      if (next === null) return position;
      position = next;
    }
  };
  const copyAndReport = async (): Promise<CommitPosition> => {
    const position = await copy(move, source, target, renew);
    report(`copied it as of commit ${position.head}`);
    return position;
  };
  let position: CommitPosition | null = await follow(await copyAndReport()).catch((error: unknown) => {
    if (!(error instanceof TooFarBehind)) throw error;
    return null;
  });
  if (position !== null) report(`followed it to commit ${position.head}`);
  await renew();
  const frozen = await freeze(move, source);
  report(`froze it at commit ${frozen.head}`);
  // Copies again if copying took longer than the source keeps commits.
  position ??= await copyAndReport();
  if (!isSamePosition(position, frozen)) position = await follow(position);
  if (!isSamePosition(position, frozen)) throw new Error('the target lacks commits of the database');
  await directory.switchTo(move);
  report(`switched it to ${to}`);
  await target.store.clearMark(databaseId, { moveId: move.moveId, role: 'target' });
  report(`activated it at ${to}`);
  await leave(databaseId, source);
  await directory.forgetMovedFrom(databaseId, move.from);
  report(`removed it from ${move.from}`);
}

/** Completes a move that was killed after it had switched the database. */
async function finishEarlier(databaseId: string, shards: Shards, report: Report): Promise<void> {
  const placement = await shards.directory.find(databaseId);
  if (placement === null || placement.movedFrom === null) return;
  const { shard, movedFrom } = placement;
  const { store } = await shards.use(shard);
  const mark = (await store.marked()).get(databaseId);
  if (mark?.role === 'target') await store.clearMark(databaseId, mark);
  await leave(databaseId, await shards.use(movedFrom));
  await shards.directory.forgetMovedFrom(databaseId, movedFrom);
  report(`removed it from ${movedFrom}`);
}

/** Both shards must store the same columns. A migration takes a while to reach all shards. */
async function requireSameSchema(source: OpenShard, target: OpenShard): Promise<void> {
  const read = async ({ connections }: OpenShard): Promise<string> =>
    JSON.stringify(await connections.query(`SELECT storage_format, schema_hash FROM ${NAMESPACE}.rockpool_store`));
  if ((await read(source)) !== (await read(target)))
    throw new RockpoolError('database-unavailable', {
      problem: 'the shards have different schemas: start an instance with the newer one',
    });
}

/** Copies all rows as of one commit, which is returned, in one transaction at the target. */
async function copy(
  { databaseId, moveId }: Move,
  source: OpenShard,
  target: OpenShard,
  renew: () => Promise<void>,
): Promise<CommitPosition> {
  await clearLeftovers(databaseId, moveId, target);
  const tables = await target.store.tables();
  return source.connections.transaction(databaseId, 'REPEATABLE READ, READ ONLY', async (reader) => {
    await requireSchema(reader, await source.store.schema());
    const position = await readPosition(reader, databaseId);
    await target.connections.transaction(databaseId, 'READ WRITE', async (writer) => {
      await requireSchema(writer, await target.store.schema());
      await insertTarget(writer, databaseId, moveId, position);
      for (const table of tables.values()) {
        for await (const rows of inParts(storedRows(reader, databaseId, table), ROWS_PER_STATEMENT, (row) => row)) {
          const { sql, parameters, rowCount } = rowStatement(databaseId, tables, insertions(table, rows));
          const [[written] = []] = await writer.query(sql, parameters);
          if (Number(written) !== rowCount) throw new Error('the target lacks rows of the database');
          await renew();
        }
      }
      return { commit: true, result: undefined };
    });
    return { commit: false, result: position };
  });
}

async function readPosition(connection: Connection, databaseId: string): Promise<CommitPosition> {
  const [row] = await connection.query(`SELECT head, commit_id FROM ${NAMESPACE}.rockpool_database WHERE id = $1`, [
    databaseId,
  ]);
  // The directory may name a database that was deleted.
  if (row === undefined) throw new RockpoolError('storage-missing', { database: databaseId });
  return { head: Number(row[0]), commitId: row[1] as Uint8Array };
}

/** Inserts the row of the database and the entry of its last commit, from which instances follow later commits. */
async function insertTarget(
  writer: Connection,
  databaseId: string,
  moveId: number,
  { head, commitId }: CommitPosition,
): Promise<void> {
  const mark = await lockMark(writer, databaseId);
  if (mark !== undefined && !(mark?.role === 'moved' && mark.moveId === moveId)) throw moveEnded();
  await writer.query(
    `INSERT INTO ${NAMESPACE}.rockpool_database (id, head, commit_id, move_id, move_role) VALUES ($1, $2, $3, $4, 'target')
     ON CONFLICT (id) DO UPDATE SET head = $2, commit_id = $3, move_id = $4, move_role = 'target', leased_by = NULL, leased_until = NULL`,
    [databaseId, head, commitId, moveId],
  );
  await writer.query(
    `INSERT INTO ${NAMESPACE}.rockpool_commit (${DATABASE_COLUMN}, head, commit_id, changeset) VALUES ($1, $2, $3, '')`,
    [databaseId, head, commitId],
  );
}

function insertions(table: MirroredTable, rows: readonly (readonly CellValue[])[]): StoredChange[] {
  return rows.map((values) => ({ table: table.name, kind: 'insert', values }));
}

/** The source no longer keeps the commits that follow the position of the target. */
class TooFarBehind extends Error {}

/** Writes the next commits of the source at the target. Returns null if there are none. */
async function followRound(
  { databaseId, moveId }: Move,
  source: OpenShard,
  target: OpenShard,
  from: CommitPosition,
): Promise<CommitPosition | null> {
  const rows = await source.connections.transaction(databaseId, 'REPEATABLE READ, READ ONLY', async (reader) => ({
    commit: false,
    result: await reader.query(
      `SELECT head, commit_id, changeset FROM ${NAMESPACE}.rockpool_commit WHERE ${DATABASE_COLUMN} = $1 AND head >= $2 ORDER BY head LIMIT ${COMMITS_PER_ROUND + 1}`,
      [databaseId, from.head],
    ),
  }));
  const commits = rows.map(([head, commitId, changeset]) => ({
    position: { head: Number(head), commitId: commitId as Uint8Array },
    changeset: changeset as Uint8Array,
  }));
  const [own, ...others] = commits;
  if (own === undefined || !isSamePosition(own.position, from)) throw new TooFarBehind();
  const last = others.at(-1);
  if (last === undefined) return null;
  const tables = await target.store.tables();
  await target.connections.transaction(databaseId, 'READ WRITE', async (writer) => {
    await requireSchema(writer, await target.store.schema());
    const mark = await lockMark(writer, databaseId);
    if (!isSameMark(mark, { moveId, role: 'target' })) throw moveEnded();
    for (const { position, changeset } of others)
      await writeCommit(writer, databaseId, tables, position, changeset, readStoredChanges(changeset));
    return { commit: true, result: undefined };
  });
  return last.position;
}

/**
 * Keeps instances from committing at the source. Returns the last commit. Throws SchemaChanged if commits may have
 * columns that were not copied.
 */
function freeze({ databaseId, moveId }: Move, { connections, store }: OpenShard): Promise<CommitPosition> {
  return connections.transaction(databaseId, 'READ WRITE', async (connection) => {
    await requireSchema(connection, await store.schema());
    const mark = await lockMark(connection, databaseId);
    if (mark?.role === 'deleted') throw new DatabaseMarked(mark);
    if (mark !== undefined && mark !== null && (mark.role === 'moved' || mark.moveId > moveId)) throw moveEnded();
    await writeMark(connection, databaseId, { moveId, role: 'source' });
    return { commit: true, result: await readPosition(connection, databaseId) };
  });
}

/** Deletes the rows of a database that the directory has at another shard. */
async function leave(databaseId: string, { connections, store }: OpenShard): Promise<void> {
  const moveId = await connections.transaction(databaseId, 'READ WRITE', async (connection) => {
    const mark = await lockMark(connection, databaseId);
    // Stops if a move back has begun.
    if (mark === undefined || mark === null || mark.role === 'target') return { commit: false, result: null };
    await writeMark(connection, databaseId, { ...mark, role: 'moved' });
    return { commit: true, result: mark.moveId };
  });
  if (moveId !== null) await deleteRows(databaseId, { moveId, role: 'moved' }, { connections, store });
}

/** Deletes the rows that an earlier move to or from the target has left there. */
async function clearLeftovers(
  databaseId: string,
  moveId: number,
  { name, connections, store }: OpenShard,
): Promise<void> {
  const left: MoveMark = { moveId, role: 'moved' };
  const isLeft = await connections.transaction(databaseId, 'READ WRITE', async (connection) => {
    const mark = await lockMark(connection, databaseId);
    if (mark === undefined) return { commit: false, result: false };
    if (mark === null)
      throw new RockpoolError('config-invalid', {
        count: 1,
        problems: `${name} already has a database ${databaseId}, which the directory does not list`,
      });
    if (mark.moveId > moveId) throw moveEnded();
    await writeMark(connection, databaseId, left);
    return { commit: true, result: true };
  });
  if (isLeft) await deleteRows(databaseId, left, { connections, store });
}
