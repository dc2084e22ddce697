import { describe, expect, it } from 'vitest';
import type { CellValue } from '../change/cell-value.ts';
import { EXISTENCE_COLUMN_ID } from '../change/changeset.ts';
import { tablePolicies } from './column-policy.ts';
import { counter } from './policies/counter.ts';
import { group } from './policies/group.ts';
import { mergeRow } from './row.ts';
import type { RowChange, RowMerge, StoredRow } from './row-model.ts';
import type { RowRules } from './row-rules.ts';

const PAYEE = 1;
const AMOUNT = 2;

function change(
  kind: RowChange['kind'],
  site: string,
  stampUs: number,
  watermark: number,
  base: number,
  values: Record<number, CellValue> = {},
): RowChange {
  return {
    kind,
    version: { site, stampUs, watermark },
    baseOf: () => base,
    values: new Map(Object.entries(values).map(([id, value]) => [Number(id), value])),
  };
}

const RULES: RowRules = { deleteRule: 'delete-wins', policies: tablePolicies([]) };
const UPDATE_WINS: RowRules = { ...RULES, deleteRule: 'update-wins' };
const PAYEE_AND_AMOUNT = group([PAYEE, AMOUNT]);
const GROUPED: RowRules = {
  ...RULES,
  policies: tablePolicies([
    [PAYEE, PAYEE_AND_AMOUNT],
    [AMOUNT, PAYEE_AND_AMOUNT],
  ]),
};
const COUNTING: RowRules = { ...RULES, policies: tablePolicies([[AMOUNT, counter]]) };

function merge(row: StoredRow | undefined, incoming: RowChange, rules: RowRules = RULES): RowMerge {
  return mergeRow(row, incoming, rules);
}

const stored = merge(undefined, change('insert', 'a', 10, 1, 0, { [PAYEE]: 'Shop', [AMOUNT]: 100n })).row as StoredRow;
const valuesOf = (row: StoredRow | undefined): unknown =>
  row?.deleted === null ? Object.fromEntries([...row.cells].map(([id, cell]) => [id, cell.value])) : null;

describe('mergeRow', () => {
  it('keeps concurrent edits of different columns, without a conflict [MR-07]', () => {
    const first = merge(stored, change('update', 'b', 20, 2, 1, { [PAYEE]: 'Market' }));
    const second = merge(first.row, change('update', 'c', 15, 3, 1, { [AMOUNT]: 200n }));
    expect(valuesOf(second.row)).toEqual({ [PAYEE]: 'Market', [AMOUNT]: 200n });
    expect([...first.conflicts, ...second.conflicts]).toEqual([]);
  });

  it('keeps the later edit of a column whichever arrives first, and returns the other as a conflict [MR-07]', () => {
    const late = change('update', 'b', 20, 2, 1, { [AMOUNT]: 200n });
    const early = (watermark: number): RowChange => change('update', 'c', 15, watermark, 1, { [AMOUNT]: 300n });
    const lateFirst = merge(merge(stored, late).row, early(3));
    expect(valuesOf(lateFirst.row)).toMatchObject({ [AMOUNT]: 200n });
    expect(lateFirst.conflicts).toMatchObject([
      { columnId: AMOUNT, rule: 'lww', lost: { value: 300n }, won: { value: 200n } },
    ]);
    expect(lateFirst.corrected).toEqual([AMOUNT]);
    const earlyFirst = merge(merge(stored, early(2)).row, { ...late, version: { ...late.version, watermark: 3 } });
    expect(valuesOf(earlyFirst.row)).toMatchObject({ [AMOUNT]: 200n });
    expect(earlyFirst.conflicts).toMatchObject([
      { columnId: AMOUNT, rule: 'lww', lost: { value: 300n }, won: { value: 200n } },
    ]);
    expect(earlyFirst.corrected).toEqual([]);
  });

  it('breaks a tie of stamps by the larger site id [MR-07]', () => {
    const b = merge(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n })).row;
    expect(valuesOf(merge(b, change('update', 'c', 20, 3, 1, { [AMOUNT]: 3n })).row)).toMatchObject({ [AMOUNT]: 3n });
    const c = merge(stored, change('update', 'c', 20, 2, 1, { [AMOUNT]: 3n })).row;
    expect(valuesOf(merge(c, change('update', 'b', 20, 3, 1, { [AMOUNT]: 2n })).row)).toMatchObject({ [AMOUNT]: 3n });
  });

  it('decides for each value whether a delete or a new insert had seen it', () => {
    const written = merge(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n })).row;
    const unseenAmount = (columnId: number): number => (columnId === AMOUNT ? 1 : 2);
    const remove = { ...change('delete', 'c', 30, 3, 2), baseOf: unseenAmount };
    expect(merge(written, remove).conflicts).toMatchObject([{ columnId: AMOUNT, lost: { value: 2n } }]);
    expect(valuesOf(merge(written, remove).row)).toBeNull();
    // The update of the value that the delete had not seen wins.
    const updated = merge(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n }), UPDATE_WINS).row;
    expect(merge(updated, remove, UPDATE_WINS).conflicts).toMatchObject([
      { columnId: EXISTENCE_COLUMN_ID, rule: 'update-wins', won: { version: { site: 'b' } } },
    ]);
    expect(valuesOf(merge(updated, remove, UPDATE_WINS).row)).toMatchObject({ [AMOUNT]: 2n });
    const again = { ...change('insert', 'c', 30, 3, 2, { [PAYEE]: 'x', [AMOUNT]: 9n }), baseOf: unseenAmount };
    expect(merge(written, again).conflicts).toMatchObject([{ columnId: AMOUNT, lost: { value: 2n } }]);
  });

  it('returns no conflict for two writers of the same value [MR-07]', () => {
    const b = merge(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n })).row;
    expect(merge(b, change('update', 'c', 15, 3, 1, { [AMOUNT]: 2n }))).toMatchObject({ conflicts: [], corrected: [] });
  });

  it('returns a lost group as a whole, including columns to which both authors wrote the same value [MR-08]', () => {
    const both = (value: bigint): Record<number, CellValue> => ({ [PAYEE]: 'Kiosk', [AMOUNT]: value });
    const b = merge(stored, change('update', 'b', 20, 2, 1, both(2n)), GROUPED).row;
    const earlier = merge(b, change('update', 'c', 15, 3, 1, both(3n)), GROUPED);
    expect(earlier.conflicts).toMatchObject([
      { columnId: AMOUNT, rule: 'lww', lost: { value: 3n }, won: { value: 2n } },
      {
        columnId: PAYEE,
        rule: 'lww',
        lost: { value: 'Kiosk', version: { site: 'c' } },
        won: { value: 'Kiosk', version: { site: 'b' } },
      },
    ]);
    expect(merge(b, change('update', 'c', 15, 3, 1, both(2n)), GROUPED)).toMatchObject({
      conflicts: [],
      corrected: [],
    });
    const inserted = merge(stored, change('insert', 'b', 5, 2, 0, { [PAYEE]: 'Shop', [AMOUNT]: 1n }), GROUPED);
    expect(inserted.conflicts).toMatchObject([
      { columnId: AMOUNT },
      { columnId: PAYEE, rule: 'one-insert-wins', lost: { value: 'Shop' } },
    ]);
  });

  it('merges a group as a whole, by its oldest cell base [MR-08]', () => {
    const b = merge(stored, change('update', 'b', 20, 2, 1, { [PAYEE]: 'Kiosk', [AMOUNT]: 2n }), GROUPED).row;
    const hidden = (stampUs: number): RowChange => ({
      ...change('update', 'c', stampUs, 3, 2, { [PAYEE]: 'Stall', [AMOUNT]: 3n }),
      baseOf: (columnId) => (columnId === AMOUNT ? 1 : 2),
    });
    expect(merge(b, hidden(15), GROUPED)).toMatchObject({
      conflicts: [{ lost: { value: 'Stall' } }, { lost: { value: 3n } }],
      corrected: [PAYEE, AMOUNT],
    });
    expect(valuesOf(merge(b, hidden(15), GROUPED).row)).toEqual({ [PAYEE]: 'Kiosk', [AMOUNT]: 2n });
    expect(merge(b, hidden(25), GROUPED).conflicts).toMatchObject([
      { lost: { value: 'Kiosk' } },
      { lost: { value: 2n } },
    ]);
  });

  it('treats a write as sequential to what its author had seen, with an older base for a covered cell [MR-02]', () => {
    const b = merge(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n })).row;
    const seen = change('update', 'c', 21, 3, 2, { [AMOUNT]: 3n });
    expect(merge(b, seen).conflicts).toEqual([]);
    const hidden = { ...seen, baseOf: (columnId: number) => (columnId === AMOUNT ? 1 : 2) };
    expect(merge(b, hidden).conflicts).toHaveLength(1);
  });

  it('keeps a delete against a concurrent update in both orders, and returns the update as a conflict [MR-11]', () => {
    const update = (watermark: number): RowChange => change('update', 'b', 99, watermark, 1, { [AMOUNT]: 2n });
    const remove = (watermark: number): RowChange => change('delete', 'c', 15, watermark, 1);
    const updateFirst = merge(merge(stored, update(2)).row, remove(3));
    const deleteFirst = merge(merge(stored, remove(2)).row, update(3));
    for (const { row, conflicts } of [updateFirst, deleteFirst]) {
      expect(valuesOf(row)).toBeNull();
      expect(conflicts).toMatchObject([{ columnId: AMOUNT, rule: 'delete-wins', lost: { value: 2n } }]);
    }
    expect(deleteFirst.corrected).toEqual([EXISTENCE_COLUMN_ID, AMOUNT]);
  });

  it('keeps the values of a deleted row', () => {
    const { row } = merge(stored, change('delete', 'c', 15, 2, 1));
    expect([...(row as StoredRow).cells.values()].map(({ value }) => value)).toEqual(['Shop', 100n]);
  });

  it('keeps one whole row of two concurrent inserts [MR-13]', () => {
    const other = change('insert', 'b', 5, 2, 0, { [PAYEE]: 'Kiosk', [AMOUNT]: 1n });
    const merged = merge(stored, other);
    expect(valuesOf(merged.row)).toEqual({ [PAYEE]: 'Shop', [AMOUNT]: 100n });
    expect(merged.conflicts.map(({ columnId, rule }) => [columnId, rule])).toEqual([
      [PAYEE, 'one-insert-wins'],
      [AMOUNT, 'one-insert-wins'],
    ]);
    expect(merged.corrected).toEqual([EXISTENCE_COLUMN_ID, PAYEE, AMOUNT]);
  });

  it('keeps updates and deletes of one incarnation from affecting another that their author had not seen [MR-13] [MR-14]', () => {
    const replaced = merge(stored, change('insert', 'b', 50, 2, 0, { [PAYEE]: 'Kiosk', [AMOUNT]: 1n })).row;
    const update = merge(replaced, change('update', 'c', 60, 3, 1, { [AMOUNT]: 7n }));
    expect(valuesOf(update.row)).toEqual({ [PAYEE]: 'Kiosk', [AMOUNT]: 1n });
    expect(update.conflicts).toMatchObject([{ rule: 'one-insert-wins', lost: { value: 7n }, won: { value: 1n } }]);
    expect(valuesOf(merge(replaced, change('delete', 'c', 60, 3, 1)).row)).not.toBeNull();
  });

  it('deletes an incarnation that its author had seen, even with a value that the author had not seen [MR-02] [MR-11]', () => {
    const replaced = merge(stored, change('insert', 'b', 50, 2, 0, { [PAYEE]: 'Kiosk', [AMOUNT]: 1n })).row;
    const remove = { ...change('delete', 'c', 60, 3, 2), baseOf: (id: number): number => (id === AMOUNT ? 1 : 2) };
    const { row, conflicts } = merge(replaced, remove);
    expect(valuesOf(row)).toBeNull();
    expect(conflicts).toMatchObject([{ columnId: AMOUNT, rule: 'delete-wins', lost: { value: 1n } }]);
  });

  it('names the author of the current value, not of the insert, when an update of another incarnation loses', () => {
    const replaced = merge(stored, change('insert', 'b', 50, 2, 0, { [PAYEE]: 'Kiosk', [AMOUNT]: 1n })).row;
    const changed = merge(replaced, change('update', 'd', 55, 3, 2, { [AMOUNT]: 3n })).row;
    const update = merge(changed, change('update', 'c', 60, 4, 1, { [AMOUNT]: 7n, [PAYEE]: 'Bar' }));
    expect(update.conflicts.map(({ columnId, won }) => [columnId, won.value, won.version.site])).toEqual([
      [PAYEE, 'Kiosk', 'b'],
      [AMOUNT, 3n, 'd'],
    ]);
  });

  it('never restores a deleted row by an update, only by a new insert [MR-14]', () => {
    const gone = merge(stored, change('delete', 'c', 15, 2, 1)).row;
    expect(valuesOf(merge(gone, change('update', 'b', 99, 3, 1, { [AMOUNT]: 2n })).row)).toBeNull();
    const again = merge(gone, change('insert', 'b', 99, 3, 2, { [PAYEE]: 'New', [AMOUNT]: 5n }));
    expect(valuesOf(again.row)).toEqual({ [PAYEE]: 'New', [AMOUNT]: 5n });
    expect(again.conflicts).toEqual([]);
  });

  it('returns a conflict for concurrent writes to a row that a sequential insert replaces', () => {
    const updated = merge(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n })).row;
    const gone = merge(updated, change('delete', 'c', 15, 3, 2)).row;
    const again = merge(gone, change('insert', 'c', 21, 4, 2, { [PAYEE]: 'New', [AMOUNT]: 5n }));
    expect(again.conflicts).toEqual([]);
    // The delete has returned the write that its author had not seen, so the next insert of the same author does not.
    const deleted = merge(updated, change('delete', 'c', 22, 3, 1));
    expect(deleted.conflicts).toMatchObject([{ columnId: AMOUNT, rule: 'delete-wins', lost: { value: 2n } }]);
    const inserted = change('insert', 'c', 23, 4, 1, { [PAYEE]: 'New', [AMOUNT]: 5n });
    expect(merge(deleted.row, inserted)).toMatchObject({ conflicts: [], corrected: [] });
    const unseen = merge(updated, change('insert', 'c', 21, 3, 1, { [PAYEE]: 'New', [AMOUNT]: 5n }));
    expect(unseen.conflicts).toMatchObject([
      { columnId: AMOUNT, rule: 'one-insert-wins', lost: { value: 2n }, won: { value: 5n } },
    ]);
  });

  it('returns a conflict for an update of a row whose tombstone is pruned', () => {
    const { row, conflicts } = merge(undefined, change('update', 'b', 20, 9, 1, { [AMOUNT]: 2n }));
    expect(row).toBeUndefined();
    expect(conflicts).toMatchObject([{ columnId: AMOUNT, rule: 'delete-wins', lost: { value: 2n } }]);
  });
});

describe('mergeRow under update-wins', () => {
  const update = (watermark: number): RowChange => change('update', 'b', 15, watermark, 1, { [AMOUNT]: 2n });
  const remove = (watermark: number): RowChange => change('delete', 'c', 99, watermark, 1);

  it('brings the whole row back in both orders, and returns the delete as a conflict [MR-12]', () => {
    const updateFirst = merge(merge(stored, update(2), UPDATE_WINS).row, remove(3), UPDATE_WINS);
    const deleteFirst = merge(merge(stored, remove(2), UPDATE_WINS).row, update(3), UPDATE_WINS);
    for (const { row, conflicts } of [updateFirst, deleteFirst]) {
      expect(valuesOf(row)).toEqual({ [PAYEE]: 'Shop', [AMOUNT]: 2n });
      expect(conflicts).toMatchObject([
        {
          columnId: EXISTENCE_COLUMN_ID,
          rule: 'update-wins',
          lost: { version: { site: 'c' } },
          won: { version: { site: 'b' } },
        },
      ]);
    }
    expect(updateFirst.corrected).toEqual([EXISTENCE_COLUMN_ID]);
    expect(deleteFirst.row?.revived).toMatchObject({ site: 'b', watermark: 3 });
  });

  it('keeps a delete that has seen the updates', () => {
    const updated = merge(stored, update(2), UPDATE_WINS).row;
    expect(valuesOf(merge(updated, change('delete', 'c', 99, 3, 2), UPDATE_WINS).row)).toBeNull();
  });
});

describe('mergeRow with a counter', () => {
  it('returns an addition to a replaced row as a conflict, even if it equals the sum [MR-09]', () => {
    const unseen = merge(stored, change('update', 'b', 20, 2, 0, { [AMOUNT]: 100n }), COUNTING);
    expect(unseen.conflicts).toMatchObject([
      { columnId: AMOUNT, rule: 'one-insert-wins', lost: { value: 100n }, won: { value: 100n } },
    ]);
  });

  it('returns additions to a row that lost to another insert as a conflict, even if both sums are equal [MR-09]', () => {
    const other = change('insert', 'c', 30, 3, 0, { [PAYEE]: 'Shop', [AMOUNT]: 100n });
    expect(merge(stored, other, COUNTING).conflicts).toEqual([]);
    const plus = (watermark: number, delta: bigint): RowChange =>
      change('update', 'a', 20, watermark, 1, { [AMOUNT]: delta });
    const counted = merge(merge(stored, plus(2, 3n), COUNTING).row, plus(3, -3n), COUNTING).row;
    expect(merge(counted, { ...other, version: { ...other.version, watermark: 4 } }, COUNTING).conflicts).toMatchObject(
      [
        {
          columnId: AMOUNT,
          rule: 'one-insert-wins',
          lost: { value: 100n, version: { site: 'a' } },
          won: { value: 100n },
        },
      ],
    );
    const earlier = change('insert', 'b', 5, 4, 0, { [PAYEE]: 'Shop', [AMOUNT]: 100n });
    expect(merge(counted, earlier, COUNTING).conflicts).toMatchObject([
      { columnId: AMOUNT, lost: { value: 100n, version: { site: 'b' } } },
    ]);
  });

  it('adds up concurrent changes in any order, without a conflict [MR-09]', () => {
    const plus = (site: string, watermark: number, delta: bigint): RowChange =>
      change('update', site, 20, watermark, 1, { [AMOUNT]: delta });
    const oneFirst = merge(merge(stored, plus('b', 2, 5n), COUNTING).row, plus('c', 3, -30n), COUNTING);
    const otherFirst = merge(merge(stored, plus('c', 2, -30n), COUNTING).row, plus('b', 3, 5n), COUNTING);
    for (const { row, conflicts } of [oneFirst, otherFirst]) {
      expect(valuesOf(row)).toMatchObject({ [AMOUNT]: 75n });
      expect(conflicts).toEqual([]);
    }
    expect(oneFirst.corrected).toEqual([AMOUNT]);
  });

  it('returns an addition as a conflict if it loses to a delete by an author who had added too and had not seen the others [MR-09]', () => {
    const plus = (site: string, watermark: number): RowChange =>
      change('update', site, 20, watermark, 1, { [AMOUNT]: 1n });
    const both = merge(
      merge(merge(stored, plus('b', 2), COUNTING).row, plus('c', 3), COUNTING).row,
      plus('c', 4),
      COUNTING,
    );
    expect(both.corrected).toEqual([AMOUNT]);
    expect(merge(both.row, change('delete', 'c', 30, 5, 1), COUNTING).conflicts).toMatchObject([
      { columnId: AMOUNT, rule: 'delete-wins', lost: { value: 103n } },
    ]);
    expect(merge(both.row, change('delete', 'c', 30, 5, 2), COUNTING).conflicts).toEqual([]);
  });

  it('keeps an admitted addition within 64 bits on its author’s device, which may apply it in another order', () => {
    expect(counter.rebase?.admitted(2n ** 63n - 5n, 10n, 'update')).toBe(-(2n ** 63n) + 5n);
  });

  it('rejects a change that is not an integer, and a sum beyond 64 bits [MR-10]', () => {
    expect(() => merge(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 'x' }), COUNTING)).toThrow(
      expect.objectContaining({ code: 'value-invalid' }),
    );
    expect(() => merge(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n ** 63n - 1n }), COUNTING)).toThrow(
      expect.objectContaining({ code: 'value-invalid' }),
    );
  });
});
