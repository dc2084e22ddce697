import {
  documentColumns,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type DocumentRule,
  type TableSchema,
} from '@rockpool/shared';
import {
  applyChange,
  canonicalJson,
  decodeDocumentCell,
  isDocumentEdit,
  parseJson,
  PathRule,
  type JsonChange,
} from '@rockpool/shared/document';

/**
 * Converts a captured group to the form in which the app would write it now: documents as JSON. An edit becomes the
 * current JSON with the recorded change applied. `textOf` reads the current value of a document column.
 */
export function documentsAsJson(
  table: TableSchema,
  group: ChangeGroup,
  before: BeforeGroup,
  textOf: (key: readonly CellValue[], columnId: number) => CellValue,
): ChangeGroup {
  const documents = documentColumns(table);
  const values = group.values.map((column, index) => {
    const columnId = group.columnIds[index] as number;
    const rule = documents.get(columnId);
    if (rule === undefined) return column;
    return column.map((value, row) => {
      if (!isDocumentEdit(value)) return contentText(value);
      const key = group.keys.map((part) => part[row] as CellValue);
      return changedText(textOf(key, columnId), before.values[index]?.[row] ?? null, rule);
    });
  });
  return { ...group, values };
}

function contentText(value: CellValue): CellValue {
  if (value === null) return null;
  const cell = decodeDocumentCell(value);
  return cell.kind === 'content' ? cell.json : null;
}

function changedText(text: CellValue, change: CellValue, rule: DocumentRule): CellValue {
  const parsed = typeof change === 'string' ? (JSON.parse(change) as JsonChange | null) : null;
  if (parsed === null || typeof text !== 'string') return text;
  return canonicalJson(applyChange(parseJson(text, rule), parsed, PathRule.root(rule)).value);
}
