import {
  decodeBefore,
  decodeChangesetBody,
  documentColumns,
  keyColumns,
  syncedTables,
  type BeforeGroup,
  type ChangeGroup,
  type DocumentRule,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import type { SqlValue } from '../rpc/sql-value.ts';
import { toSqlValue } from '../history/history-row.ts';
import { keyText, readRows, sameValue, type Query, type RowImage } from './row-image.ts';

export type BranchDocuments = typeof import('./branch-documents.ts');

/** A row that differs between the branch and its beginning. */
export interface ChangedRow {
  readonly table: TableSchema;
  readonly key: readonly SqlValue[];
  /** The values at the beginning of the branch. */
  readonly base: RowImage;
  /** The values in the branch. */
  readonly ours: RowImage;
}

interface WrittenRow {
  readonly table: TableSchema;
  readonly key: readonly SqlValue[];
}

interface Changeset {
  readonly groups: readonly ChangeGroup[];
  readonly before: readonly BeforeGroup[];
}

/**
 * Reads the rows that the changesets after `start` changed. The branch stores no copy of its beginning: applying the
 * old values in its own changelog, from the newest changeset to the first, restores the beginning. Changesets of a
 * branch are never sent, so they are neither pruned nor packed. The branch must not change during the call.
 */
export async function readChangedRows(
  query: Query,
  schema: Schema,
  start: number,
  documents: BranchDocuments | null,
): Promise<ChangedRow[]> {
  const changesets = await readChangesets(query, start);
  const tables = new Map(syncedTables(schema).map((table) => [table.id, table]));
  const written = writtenRows(changesets, tables);
  const changed: ChangedRow[] = [];
  for (const [tableId, rows] of written) {
    const table = tables.get(tableId) as TableSchema;
    const ours = await readRows(
      query,
      table,
      [...rows.values()].map(({ key }) => key),
    );
    const images = new Map(ours);
    for (const { groups, before } of changesets.toReversed())
      for (const [index, group] of [...groups.entries()].reverse())
        if (group.tableId === tableId) undoGroup(images, table, group, before[index] as BeforeGroup, documents);
    for (const [text, { key }] of rows) {
      const row: ChangedRow = { table, key, base: images.get(text) ?? null, ours: ours.get(text) ?? null };
      if (!sameImage(row.base, row.ours)) changed.push(row);
    }
  }
  const order = schema.tables.map(({ id }) => id);
  return changed.sort((a, b) => order.indexOf(a.table.id) - order.indexOf(b.table.id));
}

async function readChangesets(query: Query, start: number): Promise<Changeset[]> {
  const rows = await query({
    sql: 'SELECT body, before FROM rockpool_changelog WHERE sequence > ? ORDER BY sequence',
    params: [start],
  });
  return rows.map(({ body, before }) => {
    const { groups } = decodeChangesetBody(body as Uint8Array);
    return { groups, before: decodeBefore(before as Uint8Array, groups) };
  });
}

function writtenRows(
  changesets: readonly Changeset[],
  tables: ReadonlyMap<number, TableSchema>,
): Map<number, Map<string, WrittenRow>> {
  const written = new Map<number, Map<string, WrittenRow>>();
  for (const group of changesets.flatMap(({ groups }) => groups)) {
    const table = tables.get(group.tableId);
    if (table === undefined) continue;
    const rows = written.get(group.tableId) ?? new Map<string, WrittenRow>();
    written.set(group.tableId, rows);
    for (let row = 0; row < group.rowCount; row++) {
      const key = keyAt(table, group, row);
      rows.set(keyText(key), { table, key });
    }
  }
  return written;
}

function keyAt(table: TableSchema, group: ChangeGroup, row: number): SqlValue[] {
  return keyColumns(table).map((_, part) => toSqlValue(group.keys[part]?.[row] ?? null));
}

/** Restores the values that the rows had before the changes of a group. */
function undoGroup(
  images: Map<string, RowImage>,
  table: TableSchema,
  group: ChangeGroup,
  before: BeforeGroup,
  documents: BranchDocuments | null,
): void {
  const rules = documentColumns(table);
  const names = new Map(table.columns.map(({ id, name }) => [id, name]));
  for (let row = 0; row < group.rowCount; row++) {
    const text = keyText(keyAt(table, group, row));
    if (group.kind === 'insert') {
      images.set(text, null);
      continue;
    }
    const image = new Map(images.get(text) ?? []);
    for (const [index, columnId] of before.columnIds.entries()) {
      const name = names.get(columnId);
      if (name === undefined) continue;
      const old = toSqlValue(before.values[index]?.[row] ?? null);
      const rule = rules.get(columnId);
      if (rule === undefined || documents === null) image.set(name, old);
      else if (group.kind === 'delete') image.set(name, documents.textOfState(old, rule));
      else image.set(name, textBefore(documents, rule, image.get(name) ?? null, old, valueAt(group, columnId, row)));
    }
    images.set(text, image);
  }
}

/**
 * Returns the text of a document before an update. For an edit, `old` is the JSON change that the edit made; if the
 * document was or became NULL, `old` is its earlier value.
 */
function textBefore(
  documents: BranchDocuments,
  rule: DocumentRule,
  text: SqlValue,
  old: SqlValue,
  value: SqlValue,
): SqlValue {
  return documents.isDocumentEdit(value as never) ? documents.textBeforeEdit(text, old, rule) : old;
}

function valueAt(group: ChangeGroup, columnId: number, row: number): SqlValue {
  return toSqlValue(group.values[group.columnIds.indexOf(columnId)]?.[row] ?? null);
}

function sameImage(a: RowImage, b: RowImage): boolean {
  if (a === null || b === null) return a === b;
  return [...b].every(([name, value]) => sameValue(a.get(name) ?? null, value));
}
