import { decodeSchema, namedColumns } from '@rockpool/shared';

/** How another tab's schema compares with this tab's. A newer bundle may have a newer schema. */
export type SchemaComparison = 'same' | 'theirs-is-newer' | 'mine-is-newer' | 'incompatible';

/** What the bundle of a tab expects of the database. */
export interface TabSchema {
  /** The schema, encoded by `encodeSchema`. */
  readonly schema: string;
  /** 0 if the database is migrated additively. */
  readonly migrationCount: number;
}

/**
 * The schema with more migrations is newer. If the counts are equal, the one that adds columns to the other is newer.
 */
export function compareSchemas(my: TabSchema, their: TabSchema): SchemaComparison {
  if (my.migrationCount !== their.migrationCount)
    return my.migrationCount < their.migrationCount ? 'theirs-is-newer' : 'mine-is-newer';
  const { schema: mine } = my;
  const { schema: theirs } = their;
  if (mine === theirs) return 'same';
  const myColumns = columnsOf(mine);
  const theirColumns = columnsOf(theirs);
  const theyHaveMine = [...myColumns].every((column) => theirColumns.has(column));
  const iHaveTheirs = [...theirColumns].every((column) => myColumns.has(column));
  if (theyHaveMine && iHaveTheirs) return 'same';
  return theyHaveMine ? 'theirs-is-newer' : iHaveTheirs ? 'mine-is-newer' : 'incompatible';
}

/** For incompatible schemas: a table and a column that only this tab's schema has. */
export function firstUnknownColumn(
  { schema: mine }: TabSchema,
  { schema: theirs }: TabSchema,
): { readonly table: string; readonly column: string } | null {
  const known = columnsOf(theirs);
  const [found] = namedColumns(decodeSchema(mine)).filter((named) => !known.has(JSON.stringify(named)));
  return found === undefined ? null : { table: found[0], column: found[1] };
}

function columnsOf(encoded: string): Set<string> {
  return new Set(namedColumns(decodeSchema(encoded)).map((named) => JSON.stringify(named)));
}
