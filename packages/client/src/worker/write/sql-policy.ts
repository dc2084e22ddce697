import { RESERVED_TABLE_PREFIX, RockpoolError, type Schema } from '@rockpool/shared';
import { SEARCH_PREFIX } from '../search/search-index-sql.ts';
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
} from '../sqlite/authorizer.ts';

/** Pragmas that only tell something, or that end with the transaction. */
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

/** Actions whose first name is the thing created or dropped. */
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

/** What can be found by the name of a table. */
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

/** Tables, by lower-case names, that a policy has to know. */
interface KnownTables {
  readonly synced: ReadonlySet<string>;
  readonly searchIndexes: ReadonlySet<string>;
  /** These, local tables and search indexes. */
  readonly declared: ReadonlySet<string>;
}

/** For queries. That they write nothing is checked apart, by SQLite itself. */
export const READ_POLICY: SqlPolicy = {
  name: 'read',
  refuse: (action) => (action.code === ACTION_SAVEPOINT ? forbidden('transaction') : refuseAlways(action)),
};

/**
 * For the statements of a write: everything that SQL can do to rows of the app's tables, but not to the transaction
 * around it, to the tables of Rockpool, or to the shape of tables, which the schema and migrations declare. Views,
 * triggers and TEMP tables may come and go, as long as no name of a declared table then means something else and no
 * trigger sees what is delivered.
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
  return {
    name: 'write',
    refuse(action, use) {
      const { code } = action;
      const first = action.first.toLowerCase();
      const second = action.second.toLowerCase();
      if (WRITES.has(code) && isReserved(first) && !isOwnTrigger(action))
        return forbidden('internal-table', { table: first });
      if (WRITES.has(code) && searchIndexes.has(first)) return forbidden('search-index', { table: first });
      // Search indexes name rows by it.
      if (code === ACTION_UPDATE && searched.has(first) && action.second === 'ROWID')
        return forbidden('rowid', { table: first });
      if (code === ACTION_SAVEPOINT && isReserved(second)) return forbidden('reserved-name', { name: second });
      const refusal = refuseDefinition(action, use, known);
      if (refusal !== null) return refusal;
      // It would look like a synced table, and nothing in it would ever be sent.
      if (CREATES_TABLE.has(code) && !isTemporary(action)) return forbidden('undeclared-table', { table: first });
      if ((code === ACTION_DROP_TABLE || code === ACTION_DROP_VTABLE) && known.declared.has(first))
        return forbidden('schema', { table: first });
      if (INDEXING.has(code) && (known.synced.has(second) || isReserved(second)))
        return forbidden('schema', { table: second });
      // SQLite does not say what a table is renamed to: it may be the name of a declared one.
      if (code === ACTION_ALTER_TABLE) return forbidden('schema', { table: second });
      return refuseAlways(action);
    },
  };
}

/**
 * For one statement of a migration: everything, but rows of synced tables. Every device runs the same migrations, so
 * what one changed there would neither be sent nor be the same elsewhere. Dropping a table counts as a change of its
 * shape, although SQLite reports that its rows are deleted.
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

/** What no statement of an app may define, by the object that SQLite would make and the schema that it would lie in. */
function refuseDefinition(
  action: SqlAction,
  use: TableUse | null,
  { synced, searchIndexes, declared }: KnownTables,
): RockpoolError | null {
  const { code } = action;
  const first = action.first.toLowerCase();
  const second = action.second.toLowerCase();
  // `CREATE TRIGGER temp.t ON account` is reported as a trigger in main. Only that it is written to the TEMP schema
  // tells.
  const table =
    code === ACTION_INSERT && first === 'sqlite_temp_master'
      ? [...(use?.triggersOn ?? [])].find((name) => synced.has(name.toLowerCase()))
      : undefined;
  if (table !== undefined) return forbidden('temp-trigger', { table: table.toLowerCase() });
  if (!DEFINITIONS.has(code)) return null;
  if (isReserved(first)) return forbidden('reserved-name', { name: first });
  // SQLite looks for names in the TEMP schema first.
  if (NAMED_LIKE_TABLES.has(code) && isTemporary(action) && declared.has(first))
    return forbidden('name-taken', { name: first });
  if (!CREATES_TRIGGER.has(code)) return null;
  // It would run after capture has taken the changes, and could take back what was written down.
  if (isReserved(second)) return forbidden('internal-table', { table: second });
  if (searchIndexes.has(second)) return forbidden('search-index', { table: second });
  // SQLite fires TEMP triggers although triggers are off while deliveries are applied.
  return isTemporary(action) && synced.has(second) ? forbidden('temp-trigger', { table: second }) : null;
}

const TEMPORARY: ReadonlySet<number> = new Set([
  ACTION_CREATE_TEMP_INDEX,
  ACTION_CREATE_TEMP_TABLE,
  ACTION_CREATE_TEMP_TRIGGER,
  ACTION_CREATE_TEMP_VIEW,
]);

/** `CREATE TABLE temp.x` is reported as the creation of an ordinary table, in the schema `temp`. */
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

/** Whether it is the name of a temporary table or trigger that writes down what the app's statements do to rows. */
export function isSearchLog(name: string): boolean {
  return name.startsWith(SEARCH_PREFIX);
}

function isReserved(name: string): boolean {
  return name.startsWith(RESERVED_TABLE_PREFIX);
}

/** The triggers of search indexes log into tables of their own. */
function isOwnTrigger({ first, trigger }: SqlAction): boolean {
  return isSearchLog(first) && isSearchLog(trigger);
}

function forbidden(problem: string, fields: Readonly<Record<string, string>> = {}): RockpoolError {
  return new RockpoolError('sql-forbidden', { problem, ...fields });
}
