import { RockpoolError } from '../errors/rockpool-error.ts';
import { utf8Length } from '../bytes/utf8-length.ts';
import type { ColumnPolicy } from '../merge/column-policy.ts';
import { policyOf } from '../merge/policies/policies.ts';
import { keyColumns, valueColumns, type ColumnType, type TableSchema } from '../schema/schema.ts';
import type { CellValue } from './cell-value.ts';
import type { ChangeGroup } from './changeset.ts';

/*
 * Which values the columns of a synced table can hold: the rule of docs/values.md. The client checks a transaction
 * before it commits, and the server checks a changeset, both with this function. A value that one side accepts is
 * accepted by the other, whichever store the server has.
 *
 * The rule is about stored values, after SQLite's affinity: '12' in an INTEGER column is stored as 12, and fits.
 */

/**
 * The limit for all parts of a key together, in bytes of UTF-8; an integer counts by its digits. A PostgreSQL
 * index entry holds at most 2,704 bytes, including the key.
 */
export const MAX_KEY_BYTES = 2_000;

// A 64-bit integer has at most 20 digits, sign included.
const MAX_INTEGER_DIGITS = 20;

interface ColumnDomain {
  readonly name: string;
  readonly type: ColumnType;
  /** The policy's check, which replaces the check by column type (merge/column-policy.ts). */
  readonly validate?: ColumnPolicy['validate'] | undefined;
}

/** The values that the columns of one table can hold. */
export interface TableDomain {
  readonly table: string;
  readonly keys: readonly ColumnDomain[];
  /** The value columns by id. */
  readonly byId: ReadonlyMap<number, ColumnDomain>;
}

export function tableDomain(table: TableSchema): TableDomain {
  return {
    table: table.name,
    keys: keyColumns(table).map(({ name, type }) => ({ name, type })),
    byId: new Map(
      valueColumns(table).map(({ id, name, type }) => [id, { name, type, validate: policyOf(table, id).validate }]),
    ),
  };
}

/**
 * Throws for a value that its column cannot hold: `constraint-data-type`, the error of the column's policy, or
 * `key-invalid` for a key. The error has the table, the column and their types, and no value. NULL is not checked here,
 * because NOT NULL does that. Keys are checked only in inserts: rows of an older version with keys that are no longer
 * accepted can still be changed and deleted.
 */
export function requireInDomain({ table, keys, byId }: TableDomain, group: ChangeGroup): void {
  if (group.kind === 'insert') {
    keys.forEach((column, part) => {
      const misfit = misfitOf(column.type, group.keys[part] ?? []);
      if (misfit !== undefined)
        throw new RockpoolError('key-invalid', {
          table,
          column: column.name,
          problem: 'type',
          columnType: column.type,
          valueType: storageClassOf(misfit),
        });
    });
    requireShortKeys(table, group);
  }
  group.columnIds.forEach((columnId, index) => {
    const column = byId.get(columnId);
    if (column === undefined) return;
    const values = group.values[index] ?? [];
    if (column.validate !== undefined) return column.validate(values, { table, column: column.name });
    const misfit = misfitOf(column.type, values);
    if (misfit === undefined) return;
    throw new RockpoolError('constraint-data-type', {
      table,
      column: column.name,
      columnType: column.type,
      valueType: storageClassOf(misfit),
    });
  });
}

/** Returns the first value that a column of this type cannot hold. */
function misfitOf(type: ColumnType, values: readonly CellValue[]): CellValue | undefined {
  switch (type) {
    case 'text':
      return values.find((value) => typeof value !== 'string' && value !== null);
    case 'integer':
      return values.find((value) => typeof value !== 'bigint' && value !== null);
    case 'real':
      return values.find((value) => typeof value !== 'number' && value !== null);
    case 'numeric':
      return values.find((value) => typeof value !== 'bigint' && typeof value !== 'number' && value !== null);
    case 'blob':
      return values.find((value) => !(value instanceof Uint8Array) && value !== null);
  }
}

/** The storage class, named as by SQLite's typeof(). */
function storageClassOf(value: CellValue): 'null' | 'integer' | 'real' | 'text' | 'blob' {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'bigint') return 'integer';
  return typeof value === 'number' ? 'real' : 'blob';
}

function requireShortKeys(table: string, { keys, rowCount }: ChangeGroup): void {
  for (let row = 0; row < rowCount; row++) {
    let mostBytes = 0;
    for (const part of keys) mostBytes += mostBytesOf(part[row] as CellValue);
    // Measures only keys that could exceed the limit.
    if (
      mostBytes > MAX_KEY_BYTES &&
      keys.reduce((sum, part) => sum + bytesOf(part[row] as CellValue), 0) > MAX_KEY_BYTES
    ) {
      throw new RockpoolError('key-invalid', { table, problem: 'too-large', limitBytes: MAX_KEY_BYTES });
    }
  }
}

function mostBytesOf(value: CellValue): number {
  // A UTF-16 unit takes at most 3 bytes of UTF-8.
  if (typeof value === 'string') return value.length * 3;
  return value instanceof Uint8Array ? value.length : MAX_INTEGER_DIGITS;
}

function bytesOf(value: CellValue): number {
  if (typeof value === 'string') return utf8Length(value);
  return value instanceof Uint8Array ? value.length : String(value).length;
}
