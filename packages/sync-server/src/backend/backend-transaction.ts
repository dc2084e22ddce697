import { encodeChangesetBody, encodeKey, keyToString, RockpoolError, type CellValue, type ChangeGroup, type ChangeKind } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import { readRowValues } from '../store/row-store.ts';
import type { SqlRow } from '../store/sqlite-file.ts';
import type { StoredTable } from '../store/stored-table.ts';
import { toCell, type BackendRow, type BackendValue } from './column-value.ts';

/** Writes of the server's own program, collected to be one changeset. What it reads is as it was before them. */
export interface BackendTransaction {
  /** All columns that have no value here are NULL or their default's, as the schema says. */
  insert(table: string, row: BackendRow): void;
  /** `key`: the key's columns; `changes`: the others. Throws `row-missing` where there is no such row. */
  update(table: string, key: BackendRow, changes: BackendRow): void;
  /** Throws `row-missing` where there is no such row. */
  delete(table: string, key: BackendRow): void;
  /** A SELECT over the app's tables. INTEGER comes as bigint. */
  query(sql: string, ...parameters: readonly CellValue[]): SqlRow[];
}

interface Change {
  readonly table: StoredTable;
  readonly kind: ChangeKind;
  readonly key: readonly CellValue[];
  readonly values: ReadonlyMap<number, CellValue>;
}

/** Collects what `body` does. Null: nothing. Throws `schema-unknown-table`, `schema-unknown-column`, `value-invalid`, and what `body` throws. */
export function collectChangeset(file: DatabaseFile, body: (transaction: BackendTransaction) => void): Uint8Array | null {
  const changes = new Map<string, Change>();
  const add = (change: Change): void => {
    const name = `${change.table.schema.id}:${keyToString(change.key)}`;
    if (changes.has(name)) throw new RockpoolError('changeset-invalid', { problem: 'a row is written twice in one transaction', table: change.table.schema.name });
    changes.set(name, change);
  };
  body({
    insert(name, row) {
      const table = tableOf(file, name);
      const { key, values } = split(table, row);
      // An insert carries every column, as a client's does.
      add({ table, kind: 'insert', key, values: new Map(table.values.map(({ id }) => [id, values.get(id) ?? null])) });
    },
    update(name, keyRow, columns) {
      const table = tableOf(file, name);
      const { key } = split(table, keyRow);
      const stored = existing(file, table, key);
      const { values } = split(table, { ...keyRow, ...columns });
      add({ table, kind: 'update', key, values: asSent(table, stored, values) });
    },
    delete(name, keyRow) {
      const table = tableOf(file, name);
      const { key } = split(table, keyRow);
      existing(file, table, key);
      add({ table, kind: 'delete', key, values: new Map() });
    },
    query: (sql, ...parameters) => file.sql.all(sql, ...parameters),
  });
  return changes.size === 0 ? null : encodeChangesetBody({ atomic: true, groups: [...changes.values()].map(toGroup), hiddenBases: [] });
}

function tableOf(file: DatabaseFile, name: string): StoredTable {
  const table = file.tableByName.get(name);
  if (table === undefined || table.system) throw new RockpoolError('schema-unknown-table', { table: name });
  return table;
}

function split(table: StoredTable, row: BackendRow): { readonly key: CellValue[]; readonly values: Map<number, CellValue> } {
  const columns = new Map([...table.keys, ...table.values].map((column) => [column.name, column]));
  for (const name of Object.keys(row)) if (!columns.has(name)) throw new RockpoolError('schema-unknown-column', { table: table.schema.name, column: name });
  const cellOf = (name: string): CellValue => {
    const column = columns.get(name);
    return column === undefined ? null : toCell(row[name] as BackendValue, column);
  };
  const given = table.values.filter(({ name }) => row[name] !== undefined);
  // Their states are made by editors; a program that wants to write one takes a client.
  const document = given.find(({ id }) => table.documents.has(id));
  if (document !== undefined) throw new RockpoolError('value-invalid', { table: table.schema.name, column: document.name, problem: 'a document is written by clients' });
  return { key: table.keys.map(({ name }) => (row[name] === undefined ? null : cellOf(name))), values: new Map(given.map(({ id, name }) => [id, cellOf(name)])) };
}

function existing(file: DatabaseFile, table: StoredTable, key: readonly CellValue[]): ReadonlyMap<number, CellValue> {
  if (file.sql.get(table.selectSql, ...key) === undefined) throw new RockpoolError('row-missing', { table: table.schema.name });
  return readRowValues(file, table, key, encodeKey(key));
}

/** An update as it travels: what a counter gains, and groups of columns whole. */
function asSent(table: StoredTable, stored: ReadonlyMap<number, CellValue>, values: ReadonlyMap<number, CellValue>): Map<number, CellValue> {
  const sent = new Map(values);
  for (const group of table.columnGroups) {
    if (group.some((columnId) => values.has(columnId))) for (const columnId of group) sent.set(columnId, values.get(columnId) ?? stored.get(columnId) ?? null);
  }
  for (const columnId of table.rules.counters) {
    const [now, before] = [values.get(columnId), stored.get(columnId)];
    if (typeof now === 'bigint' && typeof before === 'bigint') sent.set(columnId, now - before);
  }
  return sent;
}

function toGroup({ table, kind, key, values }: Change): ChangeGroup {
  return { tableId: table.schema.id, kind, rowCount: 1, keys: key.map((part) => [part]), columnIds: [...values.keys()], values: [...values.values()].map((value) => [value]) };
}
