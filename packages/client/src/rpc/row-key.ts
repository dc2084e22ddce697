import type { SqlValue } from './sql-value.ts';

/**
 * The primary key of one row: its value, or an array of its values in the order of the key's columns. A key of one
 * column may be either.
 */
export type RowKey = SqlValue | readonly SqlValue[];

/** A copy of the values of a key, in key order: the caller may reuse its array. */
export function toKeyValues(key: RowKey): readonly SqlValue[] {
  return Array.isArray(key) ? [...(key as readonly SqlValue[])] : [key as SqlValue];
}
