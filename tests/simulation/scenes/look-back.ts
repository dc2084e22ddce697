import { columnIdOf, encodeKey, type CellValue, type RowAtVersion } from '#shared/index.ts';
import { readHistory, readRowAtVersion } from '#sync-server/history/read-history.ts';
import { changesBetween, type RowChange } from '../merged-rows.ts';
import { keyOf, NULL, ORACLE_TABLES, tableOf, toLiteral, unquoted, type Literal } from '../oracle/tables.ts';
import type { Device } from '../device.ts';
import type { Random } from '../random.ts';
import type { World } from '../world.ts';

const MOST_VERSIONS = 200;

/** A user reads the history of a row, and the row as it was after one of its last versions. */
export function lookBack(world: World, device: Device, random: Random): void {
  const { past, server, time } = world;
  if (past === null || server.live === null || device.isPartitioned) return;
  const { file } = server.live;
  const version = past.pickVersion(file, random, ORACLE_TABLES.keys());
  const around = version === null ? null : past.around(file, version);
  if (version === null || around === null) return;
  const changes = changesBetween(around.before, around.after);
  if (changes.length === 0) return;
  const change = random.pick(changes);
  const table = tableOf(change.row);
  const key = encodeKey(keyOf(change.row).map(cellOf));
  const found = readRowAtVersion(file, { table: table.name, key, version }, time.nowMs);
  const fault =
    faultOfRow(change, found) ??
    faultOfVersion(
      change,
      readHistory(
        file,
        { table: table.name, key, before: null, limit: MOST_VERSIONS, column: null, format: 2 },
        time.nowMs,
      ).versions,
      version,
    );
  if (fault !== null) world.fault(`the history of ${table.name} ${keyOf(change.row).join()} at ${version}: ${fault}`);
  world.tally.add('row read as it was');
}

function faultOfRow({ row, wanted }: RowChange, found: RowAtVersion): string | null {
  if (wanted === null || found === null)
    return (wanted === null) === (found === null) ? null : `the row ${found === null ? 'is not' : 'is'} there`;
  for (const column of tableOf(row).values) {
    const [is, should] = [literalOf(found.get(columnIdOf(column))), wanted.get(column)];
    if (is !== null && is !== should) return `${column} is ${is} instead of ${should}`;
  }
  return null;
}

type Versions = ReturnType<typeof readHistory>['versions'];

function faultOfVersion({ row, base, wanted }: RowChange, versions: Versions, watermark: number): string | null {
  const order = versions.map((one) => one.watermark);
  if (order.some((one, at) => at > 0 && one >= (order[at - 1] as number))) return `its versions are ${order.join()}`;
  const version = versions.find((one) => one.watermark === watermark);
  if (version === undefined) return `it is not among its versions ${order.join()}`;
  const kind = base === null ? 'insert' : wanted === null ? 'delete' : 'update';
  // If a transaction deletes and inserts a row, the row exists before and after it, so this looks like an update.
  if (version.kind !== kind && kind !== 'update') return `it is an ${version.kind} instead of an ${kind}`;
  if (kind !== 'update' || version.kind !== 'update') return null;
  const changes = new Map(version.changes.map(({ columnId, values }) => [columnId, values]));
  for (const column of tableOf(row).values) {
    const [before, after] = [base?.get(column), wanted?.get(column)];
    if (before === after) continue;
    const values = changes.get(columnIdOf(column));
    if (values === undefined) return `it does not have ${column}`;
    // A page of versions has no values of documents.
    if (values === null) continue;
    const [from, to] = [literalOf(values.before), literalOf(values.after)];
    if ((from !== null && from !== before) || (to !== null && to !== after))
      return `${column} went from ${from} to ${to} instead of from ${before} to ${after}`;
  }
  return null;
}

/** Null for a value whose literal only SQLite knows. */
function literalOf(value: CellValue | undefined): Literal | null {
  if (value === null || value === undefined) return NULL;
  return typeof value === 'string' || typeof value === 'bigint' ? toLiteral(value) : null;
}

function cellOf(literal: Literal): CellValue {
  return unquoted(literal) ?? BigInt(literal);
}
