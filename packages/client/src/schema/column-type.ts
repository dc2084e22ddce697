import type { ColumnType } from '@rockpool/shared';

/**
 * Returns the affinity that SQLite derives from a declared type
 * (https://www.sqlite.org/datatype3.html#determination_of_column_affinity). Drizzle's own columns declare `text`,
 * `integer`, `real`, `blob` or `numeric`, at most with a length; custom types may declare anything.
 */
export function columnTypeOf(declaredType: string): ColumnType {
  const type = declaredType.toUpperCase();
  if (type.includes('INT')) return 'integer';
  if (type.includes('CHAR') || type.includes('CLOB') || type.includes('TEXT')) return 'text';
  if (type.includes('BLOB') || type.trim() === '') return 'blob';
  if (type.includes('REAL') || type.includes('FLOA') || type.includes('DOUB')) return 'real';
  return 'numeric';
}
