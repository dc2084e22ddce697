import {
  encodeKey,
  EXISTENCE_COLUMN_ID,
  hasSeen,
  keyToString,
  type CellValue,
  type Version,
  type WriteVersion,
} from '@rockpool/shared';
import { baseOf } from './row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readTombstone, readTombstones } from '../store/row-store.ts';
import type { MergedRow } from './merged-row.ts';
import { referencedValues, referringValues, type ForeignKeyCheck, type ForeignKeyChecks } from './foreign-keys.ts';

/** A missing parent, and its delete, which the author of the child had not seen. */
export interface UnseenDelete {
  readonly check: ForeignKeyCheck;
  readonly deleted: Version;
}

/** Finds the unseen deletes of missing parents for the rows of one changeset. */
export class UnseenDeletes {
  private readonly file: DatabaseFile;
  private readonly checks: ForeignKeyChecks;
  // The deletes by referenced values, for parents that are referenced by columns other than their primary key.
  private readonly deletedByValues = new Map<ForeignKeyCheck, Map<string, Version[]>>();

  constructor(file: DatabaseFile, checks: ForeignKeyChecks) {
    this.file = file;
    this.checks = checks;
  }

  /** Null if every parent exists or is missing for another reason. */
  of({ write, after }: MergedRow, author: WriteVersion, base: number): UnseenDelete | null {
    const seenUpTo = baseOf(write, base)(EXISTENCE_COLUMN_ID);
    for (const check of this.checks.byChild.get(write.table) ?? []) {
      if (check.rule !== 'cascade' || this.file.sql.get(check.missingParentSql, ...write.key) === undefined) continue;
      const values = referringValues(this.file, check, write);
      const deleted =
        after === undefined || values.includes(null)
          ? undefined
          : this.deletesOf(check, values).find((version) => !hasSeen(seenUpTo, author, version));
      if (deleted !== undefined) return { check, deleted };
    }
    return null;
  }

  /** The known deletes of rows with these referenced values. */
  deletesOf(check: ForeignKeyCheck, values: readonly CellValue[]): readonly Version[] {
    const { key, parent } = check;
    if (parent.keys.every(({ name }) => key.foreignColumns.includes(name)) && parent.keys.length === values.length) {
      const parentKey = parent.keys.map(({ name }) => values[key.foreignColumns.indexOf(name)] as CellValue);
      const deleted = readTombstone(this.file, parent, encodeKey(parentKey))?.row.deleted ?? null;
      return deleted === null ? [] : [deleted];
    }
    const byValues = this.deletedByValues.get(check) ?? this.indexDeletes(check);
    this.deletedByValues.set(check, byValues);
    return byValues.get(keyToString(values)) ?? [];
  }

  private indexDeletes(check: ForeignKeyCheck): Map<string, Version[]> {
    const byValues = new Map<string, Version[]>();
    for (const { key, known } of readTombstones(this.file, check.parent)) {
      const values = referencedValues(check, check.parent, key, known);
      if (values.includes(null) || known.row.deleted === null) continue;
      byValues.set(keyToString(values), [...(byValues.get(keyToString(values)) ?? []), known.row.deleted]);
    }
    return byValues;
  }
}
