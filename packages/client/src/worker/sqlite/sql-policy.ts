import { RESERVED_TABLE_PREFIX, RockpoolError, type Schema, type TableSchema } from '@rockpool/shared';
import {
  ACTION_ALTER_TABLE,
  ACTION_ATTACH,
  ACTION_CREATE_INDEX,
  ACTION_CREATE_TABLE,
  ACTION_CREATE_TEMP_INDEX,
  ACTION_CREATE_TEMP_TABLE,
  ACTION_CREATE_TEMP_TRIGGER,
  ACTION_CREATE_TEMP_VIEW,
  ACTION_CREATE_TRIGGER,
  ACTION_CREATE_VIEW,
  ACTION_CREATE_VTABLE,
  ACTION_DELETE,
  ACTION_DETACH,
  ACTION_DROP_INDEX,
  ACTION_DROP_TABLE,
  ACTION_DROP_TEMP_INDEX,
  ACTION_DROP_TEMP_TABLE,
  ACTION_DROP_TEMP_TRIGGER,
  ACTION_DROP_TEMP_VIEW,
  ACTION_DROP_TRIGGER,
  ACTION_DROP_VIEW,
  ACTION_DROP_VTABLE,
  ACTION_INSERT,
  ACTION_PRAGMA,
  ACTION_SAVEPOINT,
  ACTION_TRANSACTION,
  ACTION_UPDATE,
  type SqlAction,
  type SqlPolicy,
  type TableUse,
} from './authorizer.ts';

/**
 * Prefix of the temporary tables and triggers of search indexes. Policies allow only these triggers to write these
 * tables.
 */
export const SEARCH_PREFIX = 'rockpool_search_';

/** Pragmas that only read, or that last for one transaction. */
const HARMLESS_PRAGMAS: ReadonlySet<string> = new Set([
  'collation_list',
  'compile_options',
  'data_version',
  'database_list',
  'defer_foreign_keys',
  'foreign_key_check',
  'foreign_key_list',
  'freelist_count',
  'function_list',
  'index_info',
  'index_list',
  'index_xinfo',
  'integrity_check',
  'module_list',
  'page_count',
  'pragma_list',
  'quick_check',
  'table_info',
  'table_list',
  'table_xinfo',
]);

const WRITES: ReadonlySet<number> = new Set([ACTION_INSERT, ACTION_UPDATE, ACTION_DELETE]);

/** Actions whose first argument is the name of the object created or dropped. */
const DEFINITIONS: ReadonlySet<number> = new Set([
  ACTION_CREATE_INDEX,
  ACTION_CREATE_TABLE,
  ACTION_CREATE_TEMP_INDEX,
  ACTION_CREATE_TEMP_TABLE,
  ACTION_CREATE_TEMP_TRIGGER,
  ACTION_CREATE_TEMP_VIEW,
  ACTION_CREATE_TRIGGER,
  ACTION_CREATE_VIEW,
  ACTION_CREATE_VTABLE,
  ACTION_DROP_INDEX,
  ACTION_DROP_TABLE,
  ACTION_DROP_TEMP_INDEX,
  ACTION_DROP_TEMP_TABLE,
  ACTION_DROP_TEMP_TRIGGER,
  ACTION_DROP_TEMP_VIEW,
  ACTION_DROP_TRIGGER,
  ACTION_DROP_VIEW,
  ACTION_DROP_VTABLE,
]);

/** Actions that create an object which SQL finds by a table name. */
const NAMED_LIKE_TABLES: ReadonlySet<number> = new Set([
  ACTION_CREATE_TABLE,
  ACTION_CREATE_TEMP_TABLE,
  ACTION_CREATE_TEMP_VIEW,
  ACTION_CREATE_VIEW,
  ACTION_CREATE_VTABLE,
]);

const CREATES_TABLE: ReadonlySet<number> = new Set([ACTION_CREATE_TABLE, ACTION_CREATE_VTABLE]);

const CREATES_TRIGGER: ReadonlySet<number> = new Set([ACTION_CREATE_TEMP_TRIGGER, ACTION_CREATE_TRIGGER]);

const INDEXING: ReadonlySet<number> = new Set([ACTION_CREATE_INDEX, ACTION_DROP_INDEX]);

/** The tables that a policy checks for, by lower-case name. */
interface KnownTables {
  readonly synced: ReadonlySet<string>;
  readonly searchIndexes: ReadonlySet<string>;
  /** Synced tables, local tables and search indexes. */
  readonly declared: ReadonlySet<string>;
}

/** The policy for queries. SQLite itself checks that they are read-only. */
export const READ_POLICY: SqlPolicy = {
  name: 'read',
  refuse: (action) => (action.code === ACTION_SAVEPOINT ? forbidden('transaction') : refuseAlways(action)),
};

/**
 * The policy for the statements of a write. Allows everything that SQL can do to rows of the app's tables. Forbids
 * control of the surrounding transaction, writes to Rockpool's tables, and changes to the shape of tables, which the
 * schema and migrations declare. Allows views, triggers and TEMP tables, unless they would shadow a declared table or
 * fire on deliveries.
 */
export function createWritePolicy(schema: Schema): SqlPolicy {
  const lower = ({ name }: { readonly name: string }): string => name.toLowerCase();
  const searchIndexes = new Set(schema.tables.flatMap((table) => (table.searchIndexes ?? []).map(lower)));
  const known: KnownTables = {
    synced: new Set(schema.tables.filter((table) => table.synced).map(lower)),
    searchIndexes,
    declared: new Set([...schema.tables.map(lower), ...searchIndexes]),
  };
  const searched = new Set(schema.tables.filter((table) => table.searchIndexes !== undefined).map(lower));
  const integerKeys = new Map(schema.tables.map((table) => [lower(table), integerKeyOf(table)]));
  const isRowid = ({ first, second }: SqlAction): boolean =>
    second === 'ROWID' || second.toLowerCase() === integerKeys.get(first.toLowerCase());
  return {
    name: 'write',
    refuse(action, use) {
      const { code } = action;
      const first = action.first.toLowerCase();
      const second = action.second.toLowerCase();
      if (WRITES.has(code) && isReserved(first) && !isOwnTrigger(action))
        return forbidden('internal-table', { table: first });
      if (WRITES.has(code) && searchIndexes.has(first)) return forbidden('search-index', { table: first });
      // Search indexes refer to rows by rowid. In any table, a BEFORE trigger that changes the rowid of an upserted row
      // corrupts the table without an error. SQLite does not report the kind of a trigger, so no trigger may change a
      // rowid.
      if (
        code === ACTION_UPDATE &&
        ((searched.has(first) && action.second === 'ROWID') || (action.trigger !== '' && isRowid(action)))
      )
        return forbidden('rowid', { table: first });
      if (code === ACTION_SAVEPOINT && isReserved(second)) return forbidden('reserved-name', { name: second });
      const refusal = refuseDefinition(action, use, known);
      if (refusal !== null) return refusal;
      // The table would look synced, but nothing in it would ever be sent.
      if (CREATES_TABLE.has(code) && !isTemporary(action)) return forbidden('undeclared-table', { table: first });
      if ((code === ACTION_DROP_TABLE || code === ACTION_DROP_VTABLE) && known.declared.has(first))
        return forbidden('schema', { table: first });
      if (INDEXING.has(code) && (known.synced.has(second) || isReserved(second)))
        return forbidden('schema', { table: second });
      // SQLite does not report the new name of a renamed table, which may be that of a declared table.
      if (code === ACTION_ALTER_TABLE) return forbidden('schema', { table: second });
      return refuseAlways(action);
    },
  };
}

/**
 * The policy for one statement of a migration. Allows everything except writes to rows of synced tables: each device
 * runs the migrations itself, so such writes would neither be sent nor be equal elsewhere. Dropping a table counts as a
 * change of shape, although SQLite reports a delete of its rows.
 */
export function createMigrationPolicy(synced: ReadonlySet<string>): SqlPolicy {
  const dropped = new Set<string>();
  const known: KnownTables = { synced, searchIndexes: new Set(), declared: synced };
  return {
    name: 'migration',
    refuse(action, use) {
      const { code } = action;
      const first = action.first.toLowerCase();
      const second = action.second.toLowerCase();
      if (code === ACTION_DROP_TABLE) dropped.add(first);
      const refusal = refuseDefinition(action, use, known);
      if (refusal !== null) return refusal;
      if ((INDEXING.has(code) || code === ACTION_ALTER_TABLE) && isReserved(second))
        return forbidden('internal-table', { table: second });
      if (code === ACTION_ALTER_TABLE && first === 'temp') return forbidden('schema', { table: second });
      if (WRITES.has(code) && isReserved(first)) return forbidden('internal-table', { table: first });
      if (WRITES.has(code) && synced.has(first) && !dropped.has(first))
        return forbidden('rows-of-synced-table', { table: first });
      return refuseAlways(action);
    },
  };
}

/**
 * Returns the error for a definition that no statement of an app may make, decided by the object that SQLite would
 * create and its schema; null if the definition is allowed.
 */
function refuseDefinition(
  action: SqlAction,
  use: TableUse | null,
  { synced, searchIndexes, declared }: KnownTables,
): RockpoolError | null {
  const { code } = action;
  const first = action.first.toLowerCase();
  const second = action.second.toLowerCase();
  // SQLite reports `CREATE TRIGGER temp.t ON account` as a trigger in main. Only the write to the TEMP schema reveals
  // it.
  const table =
    code === ACTION_INSERT && first === 'sqlite_temp_master'
      ? [...(use?.triggersOn ?? [])].find((name) => synced.has(name.toLowerCase()))
      : undefined;
  if (table !== undefined) return forbidden('temp-trigger', { table: table.toLowerCase() });
  if (!DEFINITIONS.has(code)) return null;
  if (isReserved(first)) return forbidden('reserved-name', { name: first });
  // SQLite resolves names in the TEMP schema first.
  if (NAMED_LIKE_TABLES.has(code) && isTemporary(action) && declared.has(first))
    return forbidden('name-taken', { name: first });
  if (!CREATES_TRIGGER.has(code)) return null;
  // The trigger would run after capture, and could undo what the changelog records.
  if (isReserved(second)) return forbidden('internal-table', { table: second });
  if (searchIndexes.has(second)) return forbidden('search-index', { table: second });
  // SQLite fires TEMP triggers even while triggers are off for a delivery.
  return isTemporary(action) && synced.has(second) ? forbidden('temp-trigger', { table: second }) : null;
}

/** The column that is the rowid under a different name, in lower case. Only local tables have one. */
function integerKeyOf({ primaryKey, columns }: TableSchema): string | undefined {
  const column = primaryKey.length === 1 ? columns.find(({ name }) => name === primaryKey[0]) : undefined;
  return column?.type === 'integer' ? column.name.toLowerCase() : undefined;
}

const TEMPORARY: ReadonlySet<number> = new Set([
  ACTION_CREATE_TEMP_INDEX,
  ACTION_CREATE_TEMP_TABLE,
  ACTION_CREATE_TEMP_TRIGGER,
  ACTION_CREATE_TEMP_VIEW,
]);

/** SQLite reports `CREATE TABLE temp.x` as an ordinary table in the schema `temp`. */
function isTemporary({ code, database }: SqlAction): boolean {
  return TEMPORARY.has(code) || database.toLowerCase() === 'temp';
}

function refuseAlways({ code, first }: SqlAction): RockpoolError | null {
  if (code === ACTION_TRANSACTION) return forbidden('transaction');
  if (code === ACTION_ATTACH || code === ACTION_DETACH) return forbidden('attach');
  if (code === ACTION_PRAGMA && !HARMLESS_PRAGMAS.has(first.toLowerCase()))
    return forbidden('pragma', { pragma: first });
  return null;
}

/** Whether this is the name of a temporary log table or trigger of a search index. */
function isSearchLog(name: string): boolean {
  return name.startsWith(SEARCH_PREFIX);
}

function isReserved(name: string): boolean {
  return name.startsWith(RESERVED_TABLE_PREFIX);
}

/** Whether a search index's trigger writes to its own log table. */
function isOwnTrigger({ first, trigger }: SqlAction): boolean {
  return isSearchLog(first) && isSearchLog(trigger);
}

function forbidden(problem: string, fields: Readonly<Record<string, string>> = {}): RockpoolError {
  return new RockpoolError('sql-forbidden', { problem, ...fields });
}
