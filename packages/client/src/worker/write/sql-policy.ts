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

/** Tables or views of these kinds would be found instead of a synced table of the same name. */
const SHADOWING: ReadonlySet<number> = new Set([ACTION_CREATE_TEMP_TABLE, ACTION_CREATE_TEMP_VIEW]);

const INDEXING: ReadonlySet<number> = new Set([ACTION_CREATE_INDEX, ACTION_DROP_INDEX]);

/** For queries. That they write nothing is checked apart, by SQLite itself. */
export const READ_POLICY: SqlPolicy = {
  name: 'read',
  refuse: (action) => (action.code === ACTION_SAVEPOINT ? forbidden('transaction') : refuseAlways(action)),
};

/**
 * For the statements of a write: everything that SQL can do to the app's tables, but not to the transaction around it, to the tables of
 * Rockpool, or to the shape of synced tables, which the schema declares. Local tables, views and triggers may come and go.
 */
export function createWritePolicy(schema: Schema): SqlPolicy {
  const synced = new Set(schema.tables.filter((table) => table.synced).map(({ name }) => name.toLowerCase()));
  const searchIndexes = new Set(schema.tables.flatMap((table) => (table.searchIndexes ?? []).map(({ name }) => name.toLowerCase())));
  const declared = new Set([...schema.tables.map(({ name }) => name.toLowerCase()), ...searchIndexes]);
  const searched = new Set(schema.tables.filter((table) => table.searchIndexes !== undefined).map(({ name }) => name.toLowerCase()));
  return {
    name: 'write',
    refuse(action) {
      const { code } = action;
      const first = action.first.toLowerCase();
      const second = action.second.toLowerCase();
      if (WRITES.has(code) && isReserved(first) && !isOwnTrigger(action)) return forbidden('internal-table', { table: first });
      if (WRITES.has(code) && searchIndexes.has(first)) return forbidden('search-index', { table: first });
      // Search indexes name rows by it.
      if (code === ACTION_UPDATE && searched.has(first) && action.second === 'ROWID') return forbidden('rowid', { table: first });
      if (DEFINITIONS.has(code) && isReserved(first)) return forbidden('reserved-name', { name: first });
      if (code === ACTION_SAVEPOINT && isReserved(second)) return forbidden('reserved-name', { name: second });
      if (SHADOWING.has(code) && declared.has(first)) return forbidden('name-taken', { name: first });
      if ((code === ACTION_DROP_TABLE || code === ACTION_DROP_VTABLE) && declared.has(first)) return forbidden('schema', { table: first });
      if (INDEXING.has(code) && (synced.has(second) || isReserved(second))) return forbidden('schema', { table: second });
      if (code === ACTION_ALTER_TABLE && (declared.has(second) || isReserved(second))) return forbidden('schema', { table: second });
      return refuseAlways(action);
    },
  };
}

/**
 * For one statement of a migration: everything, but rows of synced tables. Every device runs the same migrations, so what one changed there would
 * neither be sent nor be the same as elsewhere. Dropping a table counts as a change of its shape, although SQLite reports that its rows are deleted.
 */
export function createMigrationPolicy(synced: ReadonlySet<string>): SqlPolicy {
  const dropped = new Set<string>();
  return {
    name: 'migration',
    refuse(action) {
      const { code } = action;
      const first = action.first.toLowerCase();
      const second = action.second.toLowerCase();
      if (code === ACTION_DROP_TABLE) dropped.add(first);
      if (DEFINITIONS.has(code) && isReserved(first)) return forbidden('reserved-name', { name: first });
      if ((INDEXING.has(code) || code === ACTION_ALTER_TABLE) && isReserved(second)) return forbidden('internal-table', { table: second });
      if (WRITES.has(code) && isReserved(first)) return forbidden('internal-table', { table: first });
      if (WRITES.has(code) && synced.has(first) && !dropped.has(first)) return forbidden('rows-of-synced-table', { table: first });
      return refuseAlways(action);
    },
  };
}

function refuseAlways({ code, first }: SqlAction): RockpoolError | null {
  if (code === ACTION_TRANSACTION) return forbidden('transaction');
  if (code === ACTION_ATTACH || code === ACTION_DETACH) return forbidden('attach');
  if (code === ACTION_PRAGMA && !HARMLESS_PRAGMAS.has(first.toLowerCase())) return forbidden('pragma', { pragma: first });
  return null;
}

/** Whether it is the name of a temporary table or trigger that writes down what the app's statements do to rows. */
export function isLog(name: string): boolean {
  return name.startsWith(SEARCH_PREFIX);
}

function isReserved(name: string): boolean {
  return name.startsWith(RESERVED_TABLE_PREFIX);
}

/** The triggers of search indexes log into tables of their own. */
function isOwnTrigger({ first, trigger }: SqlAction): boolean {
  return isLog(first) && isLog(trigger);
}

function forbidden(problem: string, fields: Readonly<Record<string, string>> = {}): RockpoolError {
  return new RockpoolError('sql-forbidden', { problem, ...fields });
}
