import { cellValuesEqual, type CellValue, type ChangeGroup } from '@rockpool/shared';
import type { RowState } from './row-state.ts';
import type { RowWriter } from './row-writer.ts';
import type { RowWriters } from './row-writers.ts';

/** One row: its current state and the state to write. */
export interface RowWrite {
  readonly writer: RowWriter;
  readonly key: readonly CellValue[];
  readonly before: RowState;
  readonly after: RowState;
}

// Deletes come first and inserts last, so a unique value is free before another row takes it.
const ORDER = { delete: 0, update: 1, insert: 2 } as const;

export function inWritingOrder(groups: readonly ChangeGroup[]): ChangeGroup[] {
  return [...groups].sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
}

/** Writes groups without reading rows first, for rows without pending changes. */
export function writeGroups(writers: RowWriters, groups: readonly ChangeGroup[]): Set<string> {
  const touched = new Set<string>();
  for (const group of inWritingOrder(groups)) {
    const writer = writers.ofGroup(group);
    writer.writeGroup(group);
    touched.add(writer.table.name);
  }
  return touched;
}

/** Deletes rows first, then writes only the columns that differ. */
export function writeInPlace(writes: readonly RowWrite[]): void {
  removeDeleted(writes);
  patchAndPut(writes);
}

/**
 * Deletes rows last, for use with foreign keys on: rows that no longer refer to a deleted row are updated before its
 * delete could cascade to them.
 */
export function writeThenRemove(writes: readonly RowWrite[]): void {
  patchAndPut(writes);
  removeDeleted(writes);
}

/**
 * Deletes all rows, then inserts them. Rows that swap unique values need this, because no update of one alone is valid.
 */
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
