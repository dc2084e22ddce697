import { expect, it } from 'vitest';
import { PendingIndex, type PendingChangeset } from './pending-index.ts';

function insertOf(sequence: number, keys: readonly string[]): PendingChangeset {
  return {
    sequence,
    base: 0,
    groups: [{ tableId: 1, kind: 'insert', rowCount: keys.length, keys: [keys], columnIds: [], values: [] }],
    before: [{ columnIds: [], values: [] }],
    cellBases: [],
    masked: false,
  };
}

it('the pending index holds only the rows of its changesets, however many were added and removed', () => {
  const index = new PendingIndex();
  for (let sequence = 1; sequence <= 100; sequence++) {
    index.add(insertOf(sequence, [`row ${sequence}`, 'shared']));
    if (sequence > 2) index.remove([sequence - 2]);
  }
  expect([index.sequences, index.rowCount]).toEqual([[99, 100], 3]);
  index.remove(index.sequences);
  expect(index.rowCount).toBe(0);
});

it('the pending index reads from the outbox which changesets are masked, and replaces them all on request', () => {
  const index = new PendingIndex();
  for (const sequence of [1, 2]) index.add({ ...insertOf(sequence, ['row']), masked: true });
  expect([...index.masked]).toEqual([1, 2]);
  index.setMasked([2]);
  expect([...index.masked]).toEqual([2]);
});
