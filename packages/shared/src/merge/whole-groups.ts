import type { Conflict, RowChange, StoredRow } from './row-model.ts';

/**
 * The same change, with one base for all columns of a group: the least of theirs. A value of the group that was hidden
 * from its author, beside another that both had written alike and so was not, would else lose or win alone.
 */
export function withGroupBases(change: RowChange, groups: readonly (readonly number[])[]): RowChange {
  if (groups.length === 0) return change;
  const baseOf = (columnId: number): number => {
    const group = groups.find((columnIds) => columnIds.includes(columnId)) ?? [columnId];
    return Math.min(...group.map(change.baseOf));
  };
  return { ...change, baseOf };
}

/**
 * Losses of a row, and with each column of a group that lost the others of its group, also those that both had written
 * alike. A group is restored as a whole: without them its parts would come to stand beside what others have written
 * since.
 *
 * `row` is the row afterwards.
 */
export function withWholeGroups(
  conflicts: readonly Conflict[],
  row: StoredRow | undefined,
  groups: readonly (readonly number[])[],
): readonly Conflict[] {
  const alike = groups.flatMap((group) => {
    const told = conflicts.filter(({ columnId }) => group.includes(columnId));
    const [loss] = told;
    if (loss === undefined) return [];
    const untold = group.filter((columnId) => told.every((other) => other.columnId !== columnId));
    return untold.map((columnId): Conflict => {
      const value = row?.cells.get(columnId)?.value ?? null;
      return {
        columnId,
        rule: loss.rule,
        lost: { value, version: loss.lost.version },
        won: { value, version: loss.won.version },
      };
    });
  });
  return alike.length === 0 ? conflicts : [...conflicts, ...alike];
}
