import {
  encodeChangesetBody,
  encodeKey,
  keyToString,
  RockpoolError,
  type CellValue,
  type ChangeGroup,
  type ChangeKind,
  type ColumnSchema,
} from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import { readRowValues } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { toCell, type BackendRow, type BackendValue } from './column-value.ts';
import { toDocumentCell } from './document-value.ts';
import { ownSite } from '../database/own-site.ts';

/**
 * Collects the writes of the server's own program into one changeset. Reads return the state before the writes. Usable
 * until the body returns.
 */
export interface BackendTransaction {
  /**
   * Inserts a row. Omitted columns have their default, or are NULL. A document is passed as its JSON text, here and in
   * `update`.
   */
  insert(table: string, row: BackendRow): void;
  /** `key`: the columns of the key; `changes`: other columns. Throws `row-missing`. */
  update(table: string, key: BackendRow, changes: BackendRow): void;
  /** Throws `row-missing`. */
  delete(table: string, key: BackendRow): void;
  /** Runs a SELECT over the app's tables. A row is a list of its values in column order. INTEGER values are bigint. */
  query(sql: string, ...parameters: readonly CellValue[]): (readonly CellValue[])[];
}

interface Change {
  readonly table: StoredTable;
  readonly kind: ChangeKind;
  readonly key: readonly CellValue[];
  readonly values: ReadonlyMap<number, CellValue>;
}

/**
 * Runs `body` and returns its writes as a changeset body, or null for no writes. Throws `schema-unknown-table`,
 * `schema-unknown-column`, `value-invalid`, `changeset-invalid`, `transaction-ended` for an asynchronous body, and
 * errors of `body`.
 */
export function collectChangeset(
  file: DatabaseFile,
  body: (transaction: BackendTransaction) => void,
): Uint8Array | null {
  const changes = new Map<string, Change>();
  let isEnded = false;
  const add = (change: Change): void => {
    if (isEnded) throw new RockpoolError('transaction-ended');
    const name = `${change.table.schema.id}:${keyToString(change.key)}`;
    if (changes.has(name))
      throw new RockpoolError('changeset-invalid', {
        problem: 'the transaction writes a row twice',
        table: change.table.schema.name,
      });
    changes.set(name, change);
  };
  const returned: unknown = body({
    insert(name, row) {
      const table = tableOf(file, name);
      const key = keyOf(table, row);
      const values = cellsOf(file, table, { ...row, ...defaultsOf(file, table, row) }, new Map());
      // An insert has every column, like a client's insert.
      add({ table, kind: 'insert', key, values: new Map(table.values.map(({ id }) => [id, values.get(id) ?? null])) });
    },
    update(name, keyRow, columns) {
      const table = tableOf(file, name);
      const key = keyOf(table, keyRow);
      const stored = existing(file, table, key);
      const values = cellsOf(file, table, { ...keyRow, ...columns }, stored);
      add({ table, kind: 'update', key, values: asSent(table, stored, values) });
    },
    delete(name, keyRow) {
      const table = tableOf(file, name);
      const key = keyOf(table, keyRow);
      existing(file, table, key);
      add({ table, kind: 'delete', key, values: new Map() });
    },
    query: (sql, ...parameters) => file.sql.all(sql, ...parameters),
  });
  isEnded = true;
  if (returned instanceof Promise) {
    // TypeScript accepts an async function as `body`. What it writes after an `await` would be lost.
    returned.catch(() => undefined);
    throw new RockpoolError('transaction-ended', { problem: 'the body on the server must not be asynchronous' });
  }
  return changes.size === 0
    ? null
    : encodeChangesetBody({ atomic: true, groups: [...changes.values()].map(toGroup), cellBases: [] });
}

function tableOf(file: DatabaseFile, name: string): StoredTable {
  const table = file.tableByName.get(name);
  if (table === undefined || table.system) throw new RockpoolError('schema-unknown-table', { table: name });
  return table;
}

function keyOf(table: StoredTable, row: BackendRow): CellValue[] {
  return table.keys.map((column) =>
    row[column.name] === undefined ? null : toCell(row[column.name] as BackendValue, column),
  );
}

/** The cells of the non-key columns that `row` names. `stored` is the stored row, empty if the row is new. */
function cellsOf(
  file: DatabaseFile,
  table: StoredTable,
  row: BackendRow,
  stored: ReadonlyMap<number, CellValue>,
): Map<number, CellValue> {
  const names = new Set([...table.keys, ...table.values].map(({ name }) => name));
  for (const name of Object.keys(row))
    if (!names.has(name)) throw new RockpoolError('schema-unknown-column', { table: table.schema.name, column: name });
  const cellOf = (column: ColumnSchema): CellValue => {
    const value = row[column.name] as BackendValue;
    const rule = table.documents.get(column.id);
    return rule === undefined
      ? toCell(value, column)
      : toDocumentCell(value, stored.get(column.id) ?? null, column, rule, ownSite(file));
  };
  return new Map(
    table.values.filter(({ name }) => row[name] !== undefined).map((column) => [column.id, cellOf(column)]),
  );
}

/** The defaults of the columns that an insert omits. An expression such as `unixepoch()` is evaluated now. */
function defaultsOf(file: DatabaseFile, table: StoredTable, row: BackendRow): BackendRow {
  const omitted = table.values.filter(({ name, defaultSql }) => defaultSql !== null && row[name] === undefined);
  if (omitted.length === 0) return {};
  const values = file.sql.get(`SELECT ${omitted.map(({ defaultSql }) => `(${defaultSql})`).join(', ')}`) ?? [];
  return Object.fromEntries(omitted.map(({ name }, i) => [name, values[i] ?? null]));
}

function existing(file: DatabaseFile, table: StoredTable, key: readonly CellValue[]): ReadonlyMap<number, CellValue> {
  if (file.sql.get(table.selectSql, ...key) === undefined)
    throw new RockpoolError('row-missing', { table: table.schema.name });
  return readRowValues(file, table, key, encodeKey(key));
}

/** Returns an update as a client sends it: whole column groups, and each cell as its column's policy captures it. */
function asSent(
  table: StoredTable,
  stored: ReadonlyMap<number, CellValue>,
  values: ReadonlyMap<number, CellValue>,
): Map<number, CellValue> {
  const { together, byColumn } = table.rules.policies;
  const sent = new Map(values);
  for (const group of together) {
    if (group.some((columnId) => values.has(columnId)))
      for (const columnId of group) sent.set(columnId, (values.has(columnId) ? values : stored).get(columnId) ?? null);
  }
  for (const [columnId, { capture }] of byColumn) {
    const [now, before] = [values.get(columnId), stored.get(columnId)];
    if (capture !== undefined && now !== undefined && before !== undefined) sent.set(columnId, capture(before, now));
  }
  return sent;
}

function toGroup({ table, kind, key, values }: Change): ChangeGroup {
  return {
    tableId: table.schema.id,
    kind,
    rowCount: 1,
    keys: key.map((part) => [part]),
    columnIds: [...values.keys()],
    values: [...values.values()].map((value) => [value]),
  };
}
