import { decodeServerMessage, encodeDeliveryPart, type CellValue, type ChangeGroup } from '@rockpool/shared';
import { changeGroup } from '@rockpool/shared/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVERYTHING, readableGroups } from '../store/read-filter.ts';
import { encodeParts } from './encode-parts.ts';

function groupsOf(part: Uint8Array): readonly ChangeGroup[] {
  const message = decodeServerMessage(encodeDeliveryPart(part));
  return message.type === 'delivery-part' ? message.groups : [];
}

function rowsOf(groups: readonly ChangeGroup[]): unknown[] {
  return groups.flatMap(({ tableId, kind, columnIds, rowCount, keys, values }) => {
    const at = (columns: readonly (readonly CellValue[])[], row: number): unknown[] =>
      columns.map((column) => column[row]);
    return Array.from({ length: rowCount }, (_, row) => [tableId, kind, columnIds, at(keys, row), at(values, row)]);
  });
}

describe('a delivery in parts', () => {
  it('has the same rows in the same order, and only a single row may exceed the size of a part', () => {
    fc.assert(
      fc.property(fc.array(changeGroup, { maxLength: 5 }), fc.integer({ min: 1, max: 400 }), (groups, maxBytes) => {
        const parts = encodeParts(readableGroups(groups, EVERYTHING), maxBytes);
        expect(parts.length).toBeGreaterThan(0);
        expect(parts.flatMap((part) => rowsOf(groupsOf(part)))).toEqual(rowsOf(groups));
        for (const part of parts) expect(part.length <= maxBytes || rowsOf(groupsOf(part)).length <= 1).toBe(true);
      }),
    );
  });

  it('has the same rows if there are many and the first rows are not typical of the rest', () => {
    for (const sizeOf of [
      (row: number) => row % 90,
      (row: number) => (row < 600 ? 1 : 400),
      (row: number) => (row < 600 ? 400 : 1),
    ]) {
      const keys = Array.from({ length: 5_000 }, (_, row) => BigInt(row));
      const groups: ChangeGroup[] = [
        {
          tableId: 1,
          kind: 'insert',
          rowCount: keys.length,
          keys: [keys],
          columnIds: [2],
          values: [keys.map((_, row) => 'x'.repeat(sizeOf(row)))],
        },
      ];
      const parts = encodeParts(readableGroups(groups, EVERYTHING), 4_096);
      expect(parts.flatMap((part) => rowsOf(groupsOf(part)))).toEqual(rowsOf(groups));
      for (const part of parts) expect(part.length).toBeLessThanOrEqual(4_096);
    }
  });
});
