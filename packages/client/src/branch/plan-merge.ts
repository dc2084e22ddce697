import { documentColumns, valueColumns, type DocumentRule, type TableSchema } from '@rockpool/shared';
import type { BranchCellChange, BranchConflict, BranchRowChange } from '../interface/branch-merge.ts';
import type { SqlValue } from '../rpc/sql-value.ts';
import { diffDocuments, type Json } from '../history/document-diff.ts';
import type { BranchDocuments, ChangedRow } from './changed-rows.ts';
import { sameValue, type RowImage } from './row-image.ts';

/** Which value of a conflict to keep. */
export type Decide = (conflict: BranchConflict) => 'branch' | 'origin';

/** The effect of a merge on one row of the origin. */
export interface PlannedRow {
  readonly table: TableSchema;
  readonly key: readonly SqlValue[];
  readonly theirs: RowImage;
  /** The row after the merge. */
  readonly merged: RowImage;
}

export interface PlannedMerge {
  readonly rows: readonly PlannedRow[];
  readonly conflicts: readonly BranchConflict[];
}

/** Merges changed rows of a branch into the current rows of its origin, which `theirsOf` returns. */
export function planMerge(
  changed: readonly ChangedRow[],
  theirsOf: (row: ChangedRow) => RowImage,
  decide: Decide,
  documents: BranchDocuments | null,
): PlannedMerge {
  const conflicts: BranchConflict[] = [];
  const keeps = (conflict: BranchConflict): boolean => {
    conflicts.push(conflict);
    return decide(conflict) === 'branch';
  };
  const rows = changed.flatMap((row): PlannedRow[] => {
    const theirs = theirsOf(row);
    const merged = mergeRow(row, theirs, keeps, documents);
    if (sameRow(merged, theirs)) return [];
    return [{ table: row.table, key: row.key, theirs, merged }];
  });
  return { rows, conflicts };
}

/** Describes the change of a row for the app. */
export function describeChange(
  table: TableSchema,
  key: readonly SqlValue[],
  from: RowImage,
  to: RowImage,
): BranchRowChange {
  const documents = new Set(table.merge.documents.map(({ column }) => column));
  const changes = valueColumns(table).flatMap(({ name }): BranchCellChange[] => {
    const before = from?.get(name) ?? null;
    const after = to?.get(name) ?? null;
    if (sameValue(before, after)) return [];
    return [{ column: name, before, after, operations: documents.has(name) ? operations(before, after) : null }];
  });
  const kind = from === null ? 'insert' : to === null ? 'delete' : 'update';
  return { table: table.name, key, kind, changes };
}

function operations(before: SqlValue, after: SqlValue): BranchCellChange['operations'] {
  if (typeof before !== 'string' || typeof after !== 'string') return [];
  return diffDocuments(JSON.parse(before) as Json, JSON.parse(after) as Json);
}

type Keeps = (conflict: BranchConflict) => boolean;

function mergeRow(row: ChangedRow, theirs: RowImage, keeps: Keeps, documents: BranchDocuments | null): RowImage {
  const { base, ours } = row;
  if (ours === null) {
    if (theirs === null || sameRow(base, theirs)) return null;
    return keeps(deletedInBranch(row)) ? null : theirs;
  }
  if (theirs === null) {
    if (base === null) return ours;
    return keeps(rowConflict(row, 'deleted-in-origin')) ? ours : null;
  }
  return mergeCells({ ...row, ours }, theirs, keeps, documents);
}

/** The conflict of a row that the branch deleted and the origin changed. */
export function deletedInBranch(row: Pick<ChangedRow, 'table' | 'key'>): BranchConflict {
  return rowConflict(row, 'deleted-in-branch');
}

function rowConflict(
  { table, key }: Pick<ChangedRow, 'table' | 'key'>,
  kind: 'deleted-in-branch' | 'deleted-in-origin',
): BranchConflict {
  return { kind, table: table.name, key, column: null, base: null, ours: null, theirs: null };
}

type Cells = ReadonlyMap<string, SqlValue>;

function mergeCells(
  { table, key, base, ours }: ChangedRow & { readonly ours: Cells },
  theirs: Cells,
  keeps: Keeps,
  documents: BranchDocuments | null,
): RowImage {
  const merged = new Map(theirs);
  const rules = documentRules(table);
  const isChanged = (from: RowImage, to: Cells, column: string): boolean =>
    !sameValue(from?.get(column) ?? null, to.get(column) ?? null);
  for (const columns of unitsOf(table)) {
    const changedHere = columns.filter((column) => isChanged(base, ours, column));
    if (changedHere.length === 0) continue;
    const changedThere = columns.filter((column) => isChanged(base, theirs, column));
    const [column] = columns as [string];
    const both = base === null ? null : mergeBoth(table, column, [base, ours, theirs], rules, documents);
    if (both !== null && !both.isConflict) {
      merged.set(column, both.ours);
      continue;
    }
    const differing = columns.filter((name) => isChanged(theirs, ours, name));
    // A group is one value: if the origin writes any of its columns, the whole group is in conflict.
    const isConflict = changedThere.length > 0 && differing.length > 0;
    const kept = !isConflict
      ? true
      : differing
          .map((name) =>
            keeps({
              kind: 'cell',
              table: table.name,
              key,
              column: name,
              base: base?.get(name) ?? null,
              ours: ours.get(name) ?? null,
              theirs: theirs.get(name) ?? null,
            }),
          )
          .some((isOurs) => isOurs);
    if (both !== null) merged.set(column, kept ? both.ours : both.theirs);
    else if (kept) for (const name of columns) merged.set(name, ours.get(name) ?? null);
  }
  return merged;
}

/** The columns that merge together: each group, and every other column alone. */
function unitsOf(table: TableSchema): (readonly string[])[] {
  const grouped = new Set(table.merge.groups.flat());
  return [...table.merge.groups, ...valueColumns(table).flatMap(({ name }) => (grouped.has(name) ? [] : [[name]]))];
}

/**
 * The value of a counter or document with the changes of the branch and of the origin; null for any other value.
 * `isConflict`: both have changed a place of a document, which `ours` and `theirs` have as the branch or the origin.
 */
function mergeBoth(
  table: TableSchema,
  column: string,
  [base, ours, theirs]: readonly [Cells, Cells, Cells],
  rules: ReadonlyMap<string, DocumentRule>,
  documents: BranchDocuments | null,
): { readonly ours: SqlValue; readonly theirs: SqlValue; readonly isConflict: boolean } | null {
  const values = [base, ours, theirs].map((image) => image.get(column) ?? null);
  if (table.merge.counters.includes(column)) {
    const [from, to, current] = values.map((value) => BigInt(value as number | bigint)) as [bigint, bigint, bigint];
    const sum = current + to - from;
    const value = Number.isSafeInteger(Number(sum)) ? Number(sum) : sum;
    return { ours: value, theirs: value, isConflict: false };
  }
  const rule = rules.get(column);
  if (rule === undefined || documents === null || !values.every((value) => typeof value === 'string')) return null;
  const [from, to, current] = values as [string, string, string];
  return documents.mergeDocuments(from, to, current, rule);
}

function documentRules(table: TableSchema): ReadonlyMap<string, DocumentRule> {
  const rules = documentColumns(table);
  return new Map(
    table.columns.flatMap(({ id, name }) => {
      const rule = rules.get(id);
      return rule === undefined ? [] : [[name, rule] as const];
    }),
  );
}

function sameRow(a: RowImage, b: RowImage): boolean {
  if (a === null || b === null) return a === b;
  return [...a].every(([name, value]) => sameValue(value, b.get(name) ?? null));
}
