import {
  documentColumns,
  keyMatchSql,
  keyToString,
  quoteName,
  RockpoolError,
  type CellValue,
  type ChangeGroup,
  type DocumentRule,
  type TableSchema,
} from '@rockpool/shared';
import {
  canonicalJson,
  canonicalRichTexts,
  PathRule,
  readChangedJson,
  toCanonicalText,
} from '@rockpool/shared/document';
import type { CapturedChanges } from '../capture/captured-changes.ts';
import type { Connection } from '../sqlite/connection.ts';
import type { DocumentTables } from './document-columns.ts';

/** Canonical texts that a transaction has stored in the tables, by table, column and key. */
export type CanonicalTexts = Map<string, string>;

/**
 * Rewrites the documents that a transaction left in a form other than the canonical one, for example with white space,
 * a different order of keys or a different split of rich text. Merging produces the canonical form, and equal documents
 * must have equal bytes.
 *
 * Returns the changes of the transaction with canonical texts, or null if they must be captured again. Throws
 * `document-invalid` for text that is not JSON or violates the column's rule. `known` holds the texts of earlier
 * rounds, which are not read again, and receives those of this round.
 */
export function makeDocumentsCanonical(
  connection: Connection,
  tables: DocumentTables,
  { groups, before }: CapturedChanges,
  known: CanonicalTexts,
): CapturedChanges | null {
  const changesBefore = connection.totalChanges;
  let rewritten = 0;
  let isBackToOldValue = false;
  const canonicalGroups = groups.map((group, index): ChangeGroup => {
    const table = tables.get(group.tableId);
    if (table === undefined) return group;
    const documents = documentColumns(table);
    const values = group.values.map((column, position) => {
      const columnId = group.columnIds[position] as number;
      const rule = documents.get(columnId);
      if (rule === undefined) return column;
      const olds = before[index]?.values[before[index].columnIds.indexOf(columnId)];
      return column.map((value, row) => {
        const key = group.keys.map((part) => part[row] as CellValue);
        const place = `${table.id},${columnId},${keyToString(key)}`;
        if (known.get(place) === value) return value;
        const old = olds?.[row] ?? null;
        const canonical = canonicalText(value, old, rule, table, columnId);
        if (canonical !== null) known.set(place, canonical);
        if (canonical === value) return value;
        rewritten += update(connection, table, columnId, key, canonical);
        isBackToOldValue ||= canonical === old;
        return canonical;
      });
    });
    return { ...group, values };
  });
  // If only these rows were written, none by a trigger, and none has its old value again, a second capture would return
  // the same changes.
  return rewritten === connection.totalChanges - changesBefore && !isBackToOldValue
    ? { groups: canonicalGroups, before }
    : null;
}

function canonicalText(
  value: CellValue,
  old: CellValue,
  rule: DocumentRule,
  table: TableSchema,
  columnId: number,
): string | null {
  if (value === null) return null;
  const column = columnName(table, columnId);
  if (typeof value !== 'string')
    throw new RockpoolError('document-invalid', { table: table.name, column, problem: 'type' });
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

/** Returns the number of rows written: 0 if a trigger of the app prevented the write. */
function update(
  connection: Connection,
  table: TableSchema,
  columnId: number,
  key: readonly CellValue[],
  text: string | null,
): number {
  const statement = connection.prepare(
    `UPDATE main.${quoteName(table.name)} SET ${quoteName(columnName(table, columnId))} = ? WHERE ${keyMatchSql(table, { first: 2 })}`,
  );
  try {
    statement.runCells(text, ...key);
    return connection.changes;
  } finally {
    statement.release();
  }
}

function columnName(table: TableSchema, columnId: number): string {
  return table.columns.find(({ id }) => id === columnId)?.name ?? '';
}
