import type { ForeignKeySchema, TableSchema } from './schema.ts';

/**
 * What the server does with a row that refers to a parent which another author has deleted, neither having seen the
 * other's write.
 *
 * - `reject`: the changeset that comes second is rejected.
 * - `cascade`: the row is deleted with its parent, and comes back with it.
 * - `set-null`: the reference is NULL while the parent is deleted.
 */
export type ForeignKeyRule = 'reject' | 'cascade' | 'set-null';

/**
 * The rule follows from `ON DELETE`. `SET NULL` is `set-null` if the foreign key can be NULL by itself: each of its
 * columns is nullable, stored, outside the primary key, and in no other foreign key.
 */
export function foreignKeyRule(table: TableSchema, key: ForeignKeySchema): ForeignKeyRule {
  if (key.onDelete === 'cascade') return 'cascade';
  return key.onDelete === 'set null' && canBeNull(table, key) ? 'set-null' : 'reject';
}

function canBeNull({ columns, primaryKey, foreignKeys }: TableSchema, key: ForeignKeySchema): boolean {
  return key.columns.every((name) => {
    const column = columns.find((candidate) => candidate.name === name);
    return (
      column !== undefined &&
      !column.notNull &&
      column.generated === null &&
      !primaryKey.includes(name) &&
      foreignKeys.every((other) => other === key || !other.columns.includes(name))
    );
  });
}
