import { decodeKey, EXISTENCE_COLUMN_ID, RockpoolError, type Version } from '@rockpool/shared';
import { baseOf } from './row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';
import type { KnownRow } from '../store/row-store.ts';
import { unnamedWrite } from './cascade.ts';
import {
  referenceBytes,
  referencedValues,
  referringValues,
  type ForeignKeyCheck,
  type ForeignKeyChecks,
} from './foreign-keys.ts';
import type { MergedRow } from './merged-row.ts';
import { type MergedRows } from './merged-rows.ts';
import { isGoneByCascade, isThere } from './merged-row.ts';
import { insertRow } from './write-rows.ts';

/** A row that this changeset inserts or restores, and the watermark up to which its author had seen the row. */
interface Come {
  readonly row: MergedRow;
  readonly seenUpTo: number;
}

/**
 * Brings back, with an inserted or restored parent, the children that were deleted by cascade without its author's
 * knowledge: had the parent arrived before the delete, they would never have been deleted. Children that its author had
 * seen deleted stay deleted: an account that is created again does not get its old entries.
 *
 * Call it after cascadeDeletes. A child comes back only if all its parents exist and no other row has its key or unique
 * values. Otherwise it stays in the conflict log.
 */
export function returnChildren(
  file: DatabaseFile,
  checks: ForeignKeyChecks,
  rows: MergedRows,
  version: Version,
  base: number,
): void {
  const come: Come[] = rows
    .all()
    .filter((row) => !isThere(row.before) && isThere(row.after) && checks.byParent.has(row.write.table))
    .map((row) => ({ row, seenUpTo: baseOf(row.write, base)(EXISTENCE_COLUMN_ID) }));
  // Few databases have waiting children. Without this check, an import of many parents would query the children of each
  // one.
  if (
    come.length === 0 ||
    file.sql.get(`SELECT 1 FROM rockpool_row_version WHERE waits_for IS NOT NULL LIMIT 1`) === undefined
  )
    return;
  for (let parent = come.shift(); parent !== undefined; parent = come.shift()) {
    const { seenUpTo } = parent;
    for (const check of checks.byParent.get(parent.row.write.table) ?? []) {
      if (check.rule !== 'cascade') continue;
      for (const child of waitingChildren(file, check, parent.row, rows)) {
        const gone = child.after as KnownRow;
        if ((gone.row.deleted?.watermark ?? 0) <= seenUpTo || !putBack(file, checks, child)) continue;
        const returned: MergedRow = {
          ...child,
          after: {
            ...gone,
            row: { ...gone.row, deleted: null, revived: { ...version, site: SERVER_SITE } },
            waitsFor: null,
          },
        };
        rows.set(returned);
        come.push({ row: returned, seenUpTo });
      }
    }
  }
}

function waitingChildren(
  file: DatabaseFile,
  check: ForeignKeyCheck,
  { write, after }: MergedRow,
  rows: MergedRows,
): MergedRow[] {
  const values = referencedValues(check, write.table, write.key, after as KnownRow);
  if (values.includes(null)) return [];
  return file.sql
    .all(
      `SELECT key FROM rockpool_row_version WHERE waits_for = ? AND table_id = ?`,
      referenceBytes(check, values),
      BigInt(check.child.schema.id),
    )
    .map(([keyBytes]) => rows.of(unnamedWrite(check, decodeKey(keyBytes as Uint8Array))))
    .filter((row) => isGoneByCascade(row.after) && row.after === row.before);
}

/**
 * Inserts the row again. False if another row has its key or unique value, or another parent is missing, for which the
 * row then waits.
 */
function putBack(file: DatabaseFile, checks: ForeignKeyChecks, { write, after }: MergedRow): boolean {
  const { table, key, keyBytes } = write;
  try {
    file.sql.savepoint(() => insertRow(file, table, key, (after as KnownRow).row.cells));
  } catch (error) {
    if (error instanceof RockpoolError) return false;
    throw error;
  }
  const missing = checks.byChild
    .get(table)
    ?.find((check) => file.sql.get(check.missingParentSql, ...key) !== undefined);
  if (missing === undefined) return true;
  const waitsFor = referenceBytes(missing, referringValues(file, missing, write));
  file.sql.run(table.deleteSql, ...key);
  file.sql.run(
    `UPDATE rockpool_row_version SET waits_for = ? WHERE table_id = ? AND key = ?`,
    waitsFor,
    BigInt(table.schema.id),
    keyBytes,
  );
  return false;
}
