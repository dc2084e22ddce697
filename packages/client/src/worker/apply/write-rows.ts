import { cellValuesEqual, type CellValue, type ChangeGroup } from '@rockpool/shared';
import type { RowState } from './row-state.ts';
import type { RowWriter } from './row-writer.ts';
import type { RowWriters } from './row-writers.ts';

/** One row, as it is in its table and as it shall be. */
export interface RowWrite {
  readonly writer: RowWriter;
  readonly key: readonly CellValue[];
  readonly before: RowState;
  readonly after: RowState;
}

// Deletes first, inserts last: what leaves a unique key makes room for what takes it.
const ORDER = { delete: 0, update: 1, insert: 2 } as const;

export function inWritingOrder(groups: readonly ChangeGroup[]): ChangeGroup[] {
  return [...groups].sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
}

/** For rows that nothing pending concerns: straight from the delivery into the tables, without reading. */
export function writeGroups(writers: RowWriters, groups: readonly ChangeGroup[]): Set<string> {
  const touched = new Set<string>();
  for (const group of inWritingOrder(groups)) {
    const writer = writers.ofGroup(group);
    writer.writeGroup(group);
    touched.add(writer.table.name);
  }
  return touched;
}

/** Writes only what differs. */
export function writeInPlace(writes: readonly RowWrite[]): void {
  removeDeleted(writes);
  patchAndPut(writes);
}

/** For foreign keys that act: what refers to a row has left it by the time it goes, and does not go with it. */
export function writeThenRemove(writes: readonly RowWrite[]): void {
  patchAndPut(writes);
  removeDeleted(writes);
}

/** For rows whose unique keys swap places, where each is in the way of the other: all go, then all come. */
export function removeAllThenWrite(writes: readonly RowWrite[]): void {
  for (const { writer, key, before } of writes) if (before.exists) writer.remove(key);
  for (const write of writes) if (write.after.exists) put(write);
}

function removeDeleted(writes: readonly RowWrite[]): void {
  for (const { writer, key, before, after } of writes) if (before.exists && !after.exists) writer.remove(key);
}

function patchAndPut(writes: readonly RowWrite[]): void {
  for (const { writer, key, before, after } of writes) {
    if (!before.exists || !after.exists) continue;
    const changed = [...after.values].filter(
      ([columnId, value]) => !cellValuesEqual(before.values.get(columnId) ?? null, value),
    );
    writer.patch(
      key,
      changed.map(([columnId]) => columnId),
      changed.map(([, value]) => value),
    );
  }
  for (const write of writes) if (!write.before.exists && write.after.exists) put(write);
}

function put({ writer, key, after }: RowWrite): void {
  writer.put(key, [...after.values.keys()], [...after.values.values()]);
}
