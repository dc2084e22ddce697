import { texts } from '../../schema/read-json.ts';
import type { ColumnPolicy, PolicyDeclaration } from '../column-policy.ts';
import type { Conflict, RowChange, StoredRow } from '../row-model.ts';

/** `groups`: the names of each group's columns. */
export const groupDeclaration: PolicyDeclaration<readonly string[]> = {
  key: 'groups',
  columnsOf: (names) => names,
  identityOf: (names) => [...names].sort().join(),
  ruleOf: ({ groups }, column) => groups.filter((names) => names.includes(column)).map((names) => [...names].sort()),
  read: (value) => texts(value, 'groups'),
  reportEntry(names, _table, report) {
    if (names.length < 2) report(names[0] ?? null, 'A group needs at least two columns.');
  },
  // Groups do not change the meaning of pending changesets.
  changeProblem: null,
};

/**
 * Columns that have a meaning only together, such as an amount and its currency: last writer wins, for all of them at
 * once. An update of one carries all (`together`), with one base, so that each column decides like the others. The
 * policy therefore has no `capture` or `merge`; the two functions below handle the row.
 */
export function group(columnIds: readonly number[]): ColumnPolicy {
  return { name: 'group', together: columnIds };
}

/**
 * The same change, with one base for all columns of a group: the lowest of their bases. Otherwise, the columns of a
 * group could be decided differently, because the author had seen the current value of one column but not of another.
 */
export function withGroupBases(change: RowChange, groups: readonly (readonly number[])[]): RowChange {
  if (groups.length === 0) return change;
  const baseOf = (columnId: number): number => {
    const members = groups.find((columnIds) => columnIds.includes(columnId)) ?? [columnId];
    return Math.min(...members.map(change.baseOf));
  };
  return { ...change, baseOf };
}

/**
 * Adds to the conflicts of a row the columns of each losing group that both authors wrote with equal values: a group is
 * restored as a whole, and without these its parts would be combined with values that others have written since.
 *
 * `row` is the row after the merge.
 */
export function withWholeGroups(
  conflicts: readonly Conflict[],
  row: StoredRow | undefined,
  groups: readonly (readonly number[])[],
): readonly Conflict[] {
  const alike = groups.flatMap((members) => {
    const recorded = conflicts.filter(({ columnId }) => members.includes(columnId));
    const [conflict] = recorded;
    if (conflict === undefined) return [];
    const missing = members.filter((columnId) => recorded.every((other) => other.columnId !== columnId));
    return missing.map((columnId): Conflict => {
      const value = row?.cells.get(columnId)?.value ?? null;
      return {
        columnId,
        rule: conflict.rule,
        lost: { value, version: conflict.lost.version },
        won: { value, version: conflict.won.version },
      };
    });
  });
  return alike.length === 0 ? conflicts : [...conflicts, ...alike];
}
