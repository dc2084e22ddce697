import { EXISTENCE_COLUMN_ID, syncedTables, valueColumns, type Schema } from '@rockpool/shared';
import type { Meta } from './meta.ts';

/** Columns by table id. EXISTENCE_COLUMN_ID: the whole table. */
export type UnseenColumns = ReadonlyMap<number, ReadonlySet<number>>;

const NONE: UnseenColumns = new Map();

/**
 * The columns whose values below the cursor were never delivered, because they were added to the file, or because the
 * server served a schema without them. They look empty until the next full resync, so a device that writes them has not
 * seen the server's values.
 */
export function readUnseenColumns(meta: Meta): UnseenColumns {
  const json = meta.get('unseen_columns_json') ?? null;
  if (json === null) return NONE;
  const pairs = JSON.parse(json as string) as [number, number[]][];
  return new Map(pairs.map(([tableId, columnIds]) => [tableId, new Set(columnIds)]));
}

/** Adds the tables and columns that `whole` has and `part` lacks. */
export function addUnseenColumns(meta: Meta, part: Schema, whole: Schema): void {
  const unseen = new Map(readUnseenColumns(meta));
  const known = new Map(syncedTables(part).map((table) => [table.id, new Set(table.columns.map(({ id }) => id))]));
  for (const table of syncedTables(whole)) {
    const columns = known.get(table.id);
    const added =
      columns === undefined
        ? [EXISTENCE_COLUMN_ID]
        : valueColumns(table)
            .filter(({ id }) => !columns.has(id))
            .map(({ id }) => id);
    if (added.length > 0) unseen.set(table.id, new Set([...(unseen.get(table.id) ?? []), ...added]));
  }
  if (unseen.size > 0) meta.set('unseen_columns_json', JSON.stringify([...unseen].map(([id, ids]) => [id, [...ids]])));
}

/** Call when a full resync has arrived. */
export function forgetUnseenColumns(meta: Meta): void {
  if ((meta.get('unseen_columns_json') ?? null) !== null) meta.set('unseen_columns_json', null);
}
