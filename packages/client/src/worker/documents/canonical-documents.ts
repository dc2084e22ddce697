import { documentColumns, keyColumns, quoteName, RockpoolError, type CellValue, type DocumentRule, type TableSchema } from '@rockpool/shared';
import { canonicalJson, canonicalRichTexts, PathRule, readChangedJson, toCanonicalText } from '@rockpool/shared/document';
import type { CapturedChanges } from '../capture/captured-changes.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { DocumentTables } from './load-document-support.ts';

/** Canonical texts that a transaction has left, by table, column and key. */
export type CanonicalTexts = Map<string, string>;

/**
 * Writes the documents that a transaction has left in another form (blanks, the order of keys, a text with formats cut in another way) in the canonical
 * one: what is merged ends there, and equal documents have to be equal bytes. Returns whether there were any; then the transaction has changed, and is to be captured anew.
 * Throws `document-invalid` for what is no JSON or not within the column's rule. `known`: of the rounds before, whose texts need not be read again; this
 * one's are added.
 */
export function makeDocumentsCanonical(connection: Connection, tables: DocumentTables, { groups, before }: CapturedChanges, known: CanonicalTexts): boolean {
  let rewritten = false;
  for (const [index, group] of groups.entries()) {
    const table = tables.get(group.tableId);
    if (table === undefined) continue;
    for (const [columnId, rule] of documentColumns(table)) {
      const values = group.values[group.columnIds.indexOf(columnId)];
      const olds = before[index]?.values[before[index].columnIds.indexOf(columnId)];
      values?.forEach((value, row) => {
        const key = group.keys.map((part) => part[row] as CellValue);
        const place = [table.id, columnId, ...key].join();
        if (known.get(place) === value) return;
        const canonical = canonicalText(value, olds?.[row] ?? null, rule, table, columnId);
        if (canonical !== null) known.set(place, canonical);
        if (canonical === value) return;
        update(connection, table, columnId, key, canonical);
        rewritten = true;
      });
    }
  }
  return rewritten;
}

function canonicalText(value: CellValue, old: CellValue, rule: DocumentRule, table: TableSchema, columnId: number): string | null {
  if (value === null) return null;
  const column = columnName(table, columnId);
  if (typeof value !== 'string') throw new RockpoolError('document-invalid', { table: table.name, column, problem: 'type' });
  try {
    return canonicalForm(value, typeof old === 'string' ? old : null, rule);
  } catch (error) {
    if (!(error instanceof RockpoolError)) throw error;
    throw new RockpoolError(error.code, { ...error.fields, table: table.name, column }, { cause: error });
  }
}

function canonicalForm(text: string, old: string | null, rule: DocumentRule): string {
  const path = PathRule.root(rule);
  if (old === null && !path.hasRichText) return toCanonicalText(text, rule);
  const read = readChangedJson(text, old, rule);
  const canonical = canonicalRichTexts(read.value, path);
  return canonical === read.value ? read.text : canonicalJson(canonical);
}

function update(connection: Connection, table: TableSchema, columnId: number, key: readonly CellValue[], text: string | null): void {
  const match = keyColumns(table).map(({ name }) => `${quoteName(name)} = ?`).join(' AND ');
  const statement = connection.prepare(`UPDATE main.${quoteName(table.name)} SET ${quoteName(columnName(table, columnId))} = ? WHERE ${match}`);
  try {
    statement.runCells(text, ...key);
  } finally {
    statement.release();
  }
}

function columnName(table: TableSchema, columnId: number): string {
  return table.columns.find(({ id }) => id === columnId)?.name ?? '';
}
