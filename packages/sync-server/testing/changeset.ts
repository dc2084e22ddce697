import {
  ageOfStampUs,
  columnIdOf,
  encodeChangesetBody,
  tableIdOf,
  valueColumns,
  type CellValue,
  type ChangeGroup,
  type Changeset,
  type CellBase,
  type PushedChangeset,
} from '@rockpool/shared';
import { TEST_SCHEMA } from './test-schema.ts';

export type Row = Readonly<Record<string, CellValue>>;

/** A change to one row, given by table and column names, for tests. */
export type Change =
  | { readonly insert: string; readonly key: readonly CellValue[]; readonly row: Row }
  | { readonly update: string; readonly key: readonly CellValue[]; readonly row: Row }
  | { readonly delete: string; readonly key: readonly CellValue[] };

export function insert(table: string, key: CellValue | readonly CellValue[], row: Row): Change {
  return { insert: table, key: toKey(key), row };
}

export function update(table: string, key: CellValue | readonly CellValue[], row: Row): Change {
  return { update: table, key: toKey(key), row };
}

export function remove(table: string, key: CellValue | readonly CellValue[]): Change {
  return { delete: table, key: toKey(key) };
}

function toKey(key: CellValue | readonly CellValue[]): readonly CellValue[] {
  return Array.isArray(key) ? (key as readonly CellValue[]) : [key as CellValue];
}

/**
 * Like an insert by a client, it contains every value column, with NULL for columns that the test omits, and columns of
 * a newer schema that the test names.
 */
export function toGroup(change: Change): ChangeGroup {
  const keys = change.key.map((part) => [part]);
  if ('delete' in change)
    return { tableId: tableIdOf(change.delete), kind: 'delete', rowCount: 1, keys, columnIds: [], values: [] };
  const isInsert = 'insert' in change;
  const name = isInsert ? change.insert : change.update;
  const declared = TEST_SCHEMA.tables.find((table) => table.name === name);
  const columns = isInsert && declared !== undefined ? valueColumns(declared).map((column) => column.name) : [];
  const names = [...new Set([...columns, ...Object.keys(change.row)])];
  return {
    tableId: tableIdOf(name),
    kind: isInsert ? 'insert' : 'update',
    rowCount: 1,
    keys,
    columnIds: names.map(columnIdOf),
    values: names.map((columnName) => [change.row[columnName] ?? null]),
  };
}

export function toBody(
  changes: readonly Change[],
  cellBases: readonly CellBase[] = [],
  atomic: boolean = false,
): Uint8Array {
  return encodeChangesetBody({ atomic, groups: changes.map(toGroup), cellBases });
}

export function toChangeset(
  sequence: number,
  stampUs: number,
  base: number,
  changes: readonly Change[],
  cellBases: readonly CellBase[] = [],
  atomic: boolean = false,
): Changeset {
  return { sequence, stampUs, base, body: toBody(changes, cellBases, atomic) };
}

/** Builds a changeset like a client with the clock at `nowMs`. */
export function withAges(changesets: readonly Changeset[], nowMs: number): PushedChangeset[] {
  return changesets.map((changeset) => ({ ...changeset, ageUs: ageOfStampUs(changeset.stampUs, nowMs * 1000) }));
}
