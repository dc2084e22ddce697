import { describe, expect, it } from 'vitest';
import type { CellValue } from '../change/cell-value.ts';
import { EXISTENCE_COLUMN_ID } from '../change/changeset.ts';
import { mergeRow, type RowChange, type StoredRow } from './row.ts';

const PAYEE = 1;
const AMOUNT = 2;

function change(kind: RowChange['kind'], site: string, stampUs: number, watermark: number, base: number, values: Record<number, CellValue> = {}): RowChange {
  return {
    kind,
    version: { site, stampUs, watermark },
    baseOf: () => base,
    values: new Map(Object.entries(values).map(([id, value]) => [Number(id), value])),
  };
}

const stored = mergeRow(undefined, change('insert', 'a', 10, 1, 0, { [PAYEE]: 'Shop', [AMOUNT]: 100n })).row as StoredRow;
const valuesOf = (row: StoredRow | undefined): unknown => (row?.deleted === null ? Object.fromEntries([...row.cells].map(([id, cell]) => [id, cell.value])) : null);

describe('mergeRow', () => {
  it('keeps concurrent edits of different columns, and nobody loses', () => {
    const first = mergeRow(stored, change('update', 'b', 20, 2, 1, { [PAYEE]: 'Market' }));
    const second = mergeRow(first.row, change('update', 'c', 15, 3, 1, { [AMOUNT]: 200n }));
    expect(valuesOf(second.row)).toEqual({ [PAYEE]: 'Market', [AMOUNT]: 200n });
    expect([...first.losses, ...second.losses]).toEqual([]);
  });

  it('lets the later edit of one column win whichever arrives first, and returns the other as a loss', () => {
    const late = change('update', 'b', 20, 2, 1, { [AMOUNT]: 200n });
    const early = (watermark: number): RowChange => change('update', 'c', 15, watermark, 1, { [AMOUNT]: 300n });
    const lateFirst = mergeRow(mergeRow(stored, late).row, early(3));
    expect(valuesOf(lateFirst.row)).toMatchObject({ [AMOUNT]: 200n });
    expect(lateFirst.losses).toMatchObject([{ columnId: AMOUNT, rule: 'lww', lost: { value: 300n }, won: { value: 200n } }]);
    expect(lateFirst.corrected).toEqual([AMOUNT]);
    const earlyFirst = mergeRow(mergeRow(stored, early(2)).row, { ...late, version: { ...late.version, watermark: 3 } });
    expect(valuesOf(earlyFirst.row)).toMatchObject({ [AMOUNT]: 200n });
    expect(earlyFirst.losses).toMatchObject([{ columnId: AMOUNT, rule: 'lww', lost: { value: 300n }, won: { value: 200n } }]);
    expect(earlyFirst.corrected).toEqual([]);
  });

  it('breaks a tie of stamps by the larger site id', () => {
    const b = mergeRow(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n })).row;
    expect(valuesOf(mergeRow(b, change('update', 'c', 20, 3, 1, { [AMOUNT]: 3n })).row)).toMatchObject({ [AMOUNT]: 3n });
    const c = mergeRow(stored, change('update', 'c', 20, 2, 1, { [AMOUNT]: 3n })).row;
    expect(valuesOf(mergeRow(c, change('update', 'b', 20, 3, 1, { [AMOUNT]: 2n })).row)).toMatchObject({ [AMOUNT]: 3n });
  });

  it('counts two writers of the same value as no conflict', () => {
    const b = mergeRow(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n })).row;
    expect(mergeRow(b, change('update', 'c', 15, 3, 1, { [AMOUNT]: 2n })).losses).toEqual([]);
  });

  it('lets a write follow what its author had seen, and takes an older base for a cell whose value was hidden', () => {
    const b = mergeRow(stored, change('update', 'b', 20, 2, 1, { [AMOUNT]: 2n })).row;
    const seen = change('update', 'c', 21, 3, 2, { [AMOUNT]: 3n });
    expect(mergeRow(b, seen).losses).toEqual([]);
    const hidden = { ...seen, baseOf: (columnId: number) => (columnId === AMOUNT ? 1 : 2) };
    expect(mergeRow(b, hidden).losses).toHaveLength(1);
  });

  it('lets a delete win against a concurrent update in both orders, with the update in the losses', () => {
    const update = (watermark: number): RowChange => change('update', 'b', 99, watermark, 1, { [AMOUNT]: 2n });
    const remove = (watermark: number): RowChange => change('delete', 'c', 15, watermark, 1);
    const updateFirst = mergeRow(mergeRow(stored, update(2)).row, remove(3));
    const deleteFirst = mergeRow(mergeRow(stored, remove(2)).row, update(3));
    for (const { row, losses } of [updateFirst, deleteFirst]) {
      expect(valuesOf(row)).toBeNull();
      expect(losses).toMatchObject([{ columnId: AMOUNT, rule: 'delete-wins', lost: { value: 2n } }]);
    }
    expect(deleteFirst.corrected).toEqual([EXISTENCE_COLUMN_ID, AMOUNT]);
  });

  it('keeps the image of a deleted row', () => {
    const { row } = mergeRow(stored, change('delete', 'c', 15, 2, 1));
    expect([...(row as StoredRow).cells.values()].map(({ value }) => value)).toEqual(['Shop', 100n]);
  });

  it('takes one whole row of two concurrent inserts', () => {
    const other = change('insert', 'b', 5, 2, 0, { [PAYEE]: 'Kiosk', [AMOUNT]: 1n });
    const merged = mergeRow(stored, other);
    expect(valuesOf(merged.row)).toEqual({ [PAYEE]: 'Shop', [AMOUNT]: 100n });
    expect(merged.losses.map(({ columnId, rule }) => [columnId, rule])).toEqual([
      [PAYEE, 'one-insert-wins'],
      [AMOUNT, 'one-insert-wins'],
    ]);
    expect(merged.corrected).toEqual([EXISTENCE_COLUMN_ID, PAYEE, AMOUNT]);
  });

  it('does not let an update or a delete of one incarnation touch another that its author had not seen', () => {
    const replaced = mergeRow(stored, change('insert', 'b', 50, 2, 0, { [PAYEE]: 'Kiosk', [AMOUNT]: 1n })).row;
    const update = mergeRow(replaced, change('update', 'c', 60, 3, 1, { [AMOUNT]: 7n }));
    expect(valuesOf(update.row)).toEqual({ [PAYEE]: 'Kiosk', [AMOUNT]: 1n });
    expect(update.losses).toMatchObject([{ rule: 'one-insert-wins', lost: { value: 7n }, won: { value: 1n } }]);
    expect(valuesOf(mergeRow(replaced, change('delete', 'c', 60, 3, 1)).row)).not.toBeNull();
  });

  it('never brings a deleted row back by an update, only by a new insert', () => {
    const gone = mergeRow(stored, change('delete', 'c', 15, 2, 1)).row;
    expect(valuesOf(mergeRow(gone, change('update', 'b', 99, 3, 1, { [AMOUNT]: 2n })).row)).toBeNull();
    const again = mergeRow(gone, change('insert', 'b', 99, 3, 2, { [PAYEE]: 'New', [AMOUNT]: 5n }));
    expect(valuesOf(again.row)).toEqual({ [PAYEE]: 'New', [AMOUNT]: 5n });
    expect(again.losses).toEqual([]);
  });
});
