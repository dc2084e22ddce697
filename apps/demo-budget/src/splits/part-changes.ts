import type { SqlStatement } from '@rockpool/client';
import type { PartRow } from '../queries/ledger.ts';

/** One part of a split entry, as entered. */
export interface PartFields {
  /** Empty for a new part. */
  readonly id: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
  readonly notes: string;
}

const partColumns = ['categoryId', 'amountMinor', 'notes'] as const;

/** Somebody else may have added the same part since `before` was read: the later one wins, as in a merge. */
const orReplace =
  'DO UPDATE SET categoryId = excluded.categoryId, amountMinor = excluded.amountMinor, notes = excluded.notes';

/**
 * The statements that turn an entry's old parts into the new ones. They write only the cells that differ, so that they
 * do not overwrite another device's concurrent edits.
 *
 * @param onConflict for a new part whose id exists; replaces that part by default
 */
export function partChanges(
  entryId: string,
  before: readonly PartRow[],
  after: readonly PartFields[],
  onConflict: string = orReplace,
): SqlStatement[] {
  const kept = new Set(after.map((part) => part.id));
  const gone = before
    .filter((part) => !kept.has(part.id))
    .map((part) => ({ sql: 'DELETE FROM parts WHERE id = ?', params: [part.id] }));
  const changed = before.flatMap((part) => {
    const wanted = after.find((candidate) => candidate.id === part.id);
    const columns = wanted === undefined ? [] : partColumns.filter((column) => part[column] !== wanted[column]);
    if (wanted === undefined || columns.length === 0) return [];
    return [
      {
        sql: `UPDATE parts SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
        params: [...columns.map((column) => wanted[column]), part.id],
      },
    ];
  });
  const fresh = after.filter((part) => part.id === '');
  const added = freeIds(entryId, before, fresh.length).map((id, index) => {
    const { categoryId = null, amountMinor = 0, notes = '' } = fresh[index] ?? {};
    return {
      sql: `INSERT INTO parts (id, entryId, categoryId, amountMinor, notes) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) ${onConflict}`,
      params: [id, entryId, categoryId, amountMinor, notes],
    };
  });
  return [...gone, ...changed, ...added];
}

/**
 * The first unused ids of `ENTRY/1`, `ENTRY/2` …. They are numbered instead of random, so that two devices that split
 * one entry at once create the same parts.
 */
function freeIds(entryId: string, taken: readonly PartRow[], count: number): string[] {
  const known = new Set(taken.map((part) => part.id));
  const numbered = Array.from({ length: taken.length + count }, (_, index) => `${entryId}/${index + 1}`);
  return numbered.filter((id) => !known.has(id)).slice(0, count);
}
