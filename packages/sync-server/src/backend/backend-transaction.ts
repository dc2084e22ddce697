import {
  encodeChangesetBody,
  encodeKey,
  keyToString,
  RockpoolError,
  type CellValue,
  type ChangeGroup,
  type ColumnSchema,
} from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import { readRowValues } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { toCell, type BackendRow, type BackendValue } from './column-value.ts';
import { toDocumentCell } from './document-value.ts';
import { InsertDefaults } from './insert-defaults.ts';
import { rowProblem, type BackendChangeset, type BackendRowWrite } from '../database/backend-writes.ts';
import { ownSite } from '../database/own-site.ts';

/**
 * Collects the writes of the server's own program into one changeset. Reads return the state before the writes. Usable
 * until the body returns.
 */
export interface BackendTransaction {
  /**
   * Inserts a row. Omitted columns have their default, or are NULL; a key of one INTEGER column must be given. A
   * document is passed as its JSON text, here and in `update`. Throws `constraint-primary-key` if the row exists.
   */
  insert(table: string, row: BackendRow): void;
  /** `key`: the columns of the key; `changes`: other columns. Throws `row-missing`. */
  update(table: string, key: BackendRow, changes: BackendRow): void;
  /** Throws `row-missing`. */
  delete(table: string, key: BackendRow): void;
  /** Runs a SELECT over the app's tables. A row is a list of its values in column order. INTEGER values are bigint. */
  query(sql: string, ...parameters: readonly CellValue[]): (readonly CellValue[])[];
}

/** Stored values by column name. */
type Defaults = ReadonlyMap<string, CellValue>;

const NO_DEFAULTS: Defaults = new Map();

interface Change extends BackendRowWrite {
  readonly values: ReadonlyMap<number, CellValue>;
}

/**
 * Runs `body` and returns its writes as a changeset, or null for no writes. Throws `schema-unknown-table`,
 * `schema-unknown-column`, `value-invalid`, `changeset-invalid`, `constraint-primary-key`, `row-missing`,
 * `transaction-ended` for an asynchronous body, and errors of `body`.
 */
export function collectChangeset(
  file: DatabaseFile,
  body: (transaction: BackendTransaction) => void,
): BackendChangeset | null {
  const changes = new Map<string, Change>();
  const defaults = new InsertDefaults();
  let isEnded = false;
  const written = (name: string): StoredTable => {
    if (isEnded) throw new RockpoolError('transaction-ended');
    return tableOf(file, name);
  };
  const add = (change: Change): void => {
    const name = `${change.table.schema.id}:${keyToString(change.key)}`;
    if (changes.has(name))
      throw new RockpoolError('changeset-invalid', {
        problem: 'the transaction writes a row twice',
        table: change.table.schema.name,
      });
    changes.set(name, change);
  };
  const transaction: BackendTransaction = {
    insert(name, row) {
      const table = written(name);
      const omitted = defaults.of(table, row);
      const key = keyOf(table, row, omitted);
      const values = cellsOf(file, table, row, new Map(), omitted);
      // The merge would take an insert that follows the stored row as a replacement of all of its columns.
      requireWritable(file, { table, kind: 'insert', key });
      // An insert has every column, like a client's insert.
      add({ table, kind: 'insert', key, values: new Map(table.values.map(({ id }) => [id, values.get(id) ?? null])) });
    },
    update(name, keyRow, columns) {
      const table = written(name);
      const key = keyOf(table, keyRow);
      requireWritable(file, { table, kind: 'update', key });
      const stored = readRowValues(file, table, key, encodeKey(key));
      const values = cellsOf(file, table, { ...keyRow, ...columns }, stored);
      add({ table, kind: 'update', key, values: asSent(table, stored, values) });
    },
    delete(name, keyRow) {
      const table = written(name);
      const key = keyOf(table, keyRow);
      requireWritable(file, { table, kind: 'delete', key });
      add({ table, kind: 'delete', key, values: new Map() });
    },
    query: (sql, ...parameters) => file.sql.all(sql, ...parameters),
  };
  let returned: unknown;
  try {
    returned = body(transaction);
  } finally {
    isEnded = true;
    defaults.close();
  }
  if (returned instanceof Promise) {
    // TypeScript accepts an async function as `body`. What it writes after an `await` would be lost.
    returned.catch(() => undefined);
    throw new RockpoolError('transaction-ended', { problem: 'the body on the server must not be asynchronous' });
  }
  if (changes.size === 0) return null;
  const rows = [...changes.values()];
  return { body: encodeChangesetBody({ atomic: true, groups: rows.map(toGroup), cellBases: [] }), rows };
}

function tableOf(file: DatabaseFile, name: string): StoredTable {
  const table = file.tableByName.get(name);
  if (table === undefined || table.system) throw new RockpoolError('schema-unknown-table', { table: name });
  return table;
}

function keyOf(table: StoredTable, row: BackendRow, defaults: Defaults = NO_DEFAULTS): CellValue[] {
  return table.keys.map((column) => {
    const value = row[column.name];
    return value === undefined ? (defaults.get(column.name) ?? null) : toCell(value, column);
  });
}

/**
 * The cells of the non-key columns that `row` or `defaults` names. `stored` is the stored row, empty if the row is new.
 */
function cellsOf(
  file: DatabaseFile,
  table: StoredTable,
  row: BackendRow,
  stored: ReadonlyMap<number, CellValue>,
  defaults: Defaults = NO_DEFAULTS,
): Map<number, CellValue> {
  const names = new Set([...table.keys, ...table.values].map(({ name }) => name));
  for (const name of Object.keys(row))
    if (!names.has(name)) throw new RockpoolError('schema-unknown-column', { table: table.schema.name, column: name });
  const cellOf = (column: ColumnSchema): CellValue => {
    const omitted = defaults.get(column.name);
    const value = omitted === undefined ? (row[column.name] as BackendValue) : omitted;
    const rule = table.documents.get(column.id);
    if (rule !== undefined) return toDocumentCell(value, stored.get(column.id) ?? null, column, rule, ownSite(file));
    return omitted === undefined ? toCell(value, column) : omitted;
  };
  return new Map(
    table.values
      .filter(({ name }) => row[name] !== undefined || defaults.has(name))
      .map((column) => [column.id, cellOf(column)]),
  );
}

/** Throws `constraint-primary-key` or `row-missing`. */
function requireWritable(file: DatabaseFile, row: BackendRowWrite): void {
  const problem = rowProblem(file, row);
  if (problem !== null) throw problem;
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
