import { decodeSchema } from '@rockpool/shared';

/** How another tab's schema stands to this tab's. A newer bundle may bring a newer schema; schemas grow by adding. */
export type SchemaComparison = 'same' | 'theirs-is-newer' | 'mine-is-newer' | 'incompatible';

/** Both as `encodeSchema` writes them. Newer is the one that has all columns of the other, and more. */
export function compareSchemas(mine: string, theirs: string): SchemaComparison {
  if (mine === theirs) return 'same';
  const myColumns = columnsOf(mine);
  const theirColumns = columnsOf(theirs);
  const theyHaveMine = [...myColumns].every((column) => theirColumns.has(column));
  const iHaveTheirs = [...theirColumns].every((column) => myColumns.has(column));
  if (theyHaveMine && iHaveTheirs) return 'same';
  return theyHaveMine ? 'theirs-is-newer' : iHaveTheirs ? 'mine-is-newer' : 'incompatible';
}

function columnsOf(encoded: string): Set<string> {
  return new Set(decodeSchema(encoded).tables.flatMap((table) => table.columns.map((column) => JSON.stringify([table.name, column.name]))));
}
