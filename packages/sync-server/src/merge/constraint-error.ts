import { RockpoolError, type TableSchema } from '@rockpool/shared';
import { KEY_SIZE_CHECK, TYPE_CHECK_PREFIX } from '../store/postgres/typed-table.ts';

// Extended result codes of SQLite.
const ERROR = 1;
const TOO_BIG = 18;
const CONSTRAINT_CHECK = 275;
const CONSTRAINT_NOT_NULL = 1299;
const CONSTRAINT_PRIMARY_KEY = 1555;
const CONSTRAINT_UNIQUE = 2067;
const CONSTRAINT_DATA_TYPE = 3091;

/**
 * Maps an SQLite error to a rejection if the row caused it; null if the file or the machine caused it, which fails the
 * whole transaction. Fields contain only names of tables, columns and constraints.
 */
export function constraintError(sqliteCode: number, message: string, table: TableSchema): RockpoolError | null {
  const fields = { table: table.name };
  switch (sqliteCode) {
    case CONSTRAINT_UNIQUE:
      return new RockpoolError('constraint-unique', { ...fields, columns: columnsIn(message, table) });
    case CONSTRAINT_PRIMARY_KEY:
      return new RockpoolError('constraint-primary-key', fields);
    case CONSTRAINT_NOT_NULL:
      return new RockpoolError('constraint-not-null', { ...fields, columns: columnsIn(message, table) });
    case CONSTRAINT_CHECK:
      if (message.includes(TYPE_CHECK_PREFIX))
        return new RockpoolError('constraint-data-type', {
          ...fields,
          column: message.slice(message.indexOf(TYPE_CHECK_PREFIX) + TYPE_CHECK_PREFIX.length),
        });
      if (message.includes(KEY_SIZE_CHECK))
        return new RockpoolError('key-invalid', { ...fields, problem: 'too-large' });
      return new RockpoolError('constraint-check', { ...fields, constraint: constraintIn(message, table) });
    case CONSTRAINT_DATA_TYPE:
      return new RockpoolError('constraint-data-type', fields);
    case ERROR:
      // An expression of a CHECK, an index or a generated column failed, such as json() of invalid JSON.
      return new RockpoolError('constraint-check', { ...fields, constraint: '' });
    case TOO_BIG:
      return new RockpoolError('value-invalid', { ...fields, problem: 'too-large' });
    default:
      return null;
  }
}

/** The column names in "UNIQUE constraint failed: entries.a, entries.b" or "… index 'name'" that the schema has. */
function columnsIn(message: string, table: TableSchema): string {
  const named = message
    .slice(message.indexOf(':') + 1)
    .split(',')
    .map((part) => part.trim());
  const known = table.columns.filter(({ name }) => named.includes(`${table.name}.${name}`)).map(({ name }) => name);
  return known.join(', ');
}

/** The name, or the expression, in "CHECK constraint failed: …", if the schema has it. */
function constraintIn(message: string, table: TableSchema): string {
  const named = message.slice(message.indexOf(':') + 1).trim();
  return table.checks.some(({ name, sql }) => name === named || sql === named) ? named : '';
}
