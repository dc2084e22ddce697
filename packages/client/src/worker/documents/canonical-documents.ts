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

/** Canonical texts that a transaction has left, by table, column and key. */
export type CanonicalTexts = Map<string, string>;

/**
 * Writes the documents that a transaction has left in another form (blanks, the order of keys, a text with formats cut
 * in another way) in the canonical one: what is merged ends there, and equal documents have to be equal bytes. Returns
 * what the transaction has changed with that, or null where it has to be captured anew. Throws `document-invalid` for
 * what is no JSON or not within the column's rule. `known`: of the rounds before, whose texts need not be read again;
 * this one's are added.
 */
export function makeDocumentsCanonical(
  connection: Connection,
  tables: DocumentTables,
  { groups, before }: CapturedChanges,
  known: CanonicalTexts,
): CapturedChanges | null {
  const changesBefore = connection.totalChanges;
  let rewritten = 0;
  let isUndone = false;
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
        isUndone ||= canonical === old;
        return canonical;
      });
    });
    return { ...group, values };
  });
  // Nothing but these rows was written, by no trigger either, and none of them is now what it was before: so this is
  // what capture would say.
  return rewritten === connection.totalChanges - changesBefore && !isUndone
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

/** Gives the number of rows that it wrote: none where a trigger of the app keeps it from doing so. */
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
