import {
  documentColumns,
  RockpoolError,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type DocumentRule,
  type ErrorFields,
  type TableSchema,
} from '@rockpool/shared';
import {
  applyChange,
  canonicalJson,
  isDocumentEdit,
  invertChange,
  parseJson,
  PathRule,
  valueAt,
  type ChangedPlace,
  type JsonChange,
} from '@rockpool/shared/document';
import { documentContent } from './undo-documents.ts';

/**
 * Converts a captured group to the form in which the app would write it now: documents as JSON. An edit becomes the
 * current JSON with the recorded change applied. `textOf` reads the current value of a document column.
 *
 * An edit is converted as a whole or not at all. Throws `document-gone` if the column is NULL, and
 * `document-place-missing` if a place that the edit changes no longer exists. If `keepsNewer`, throws the latter also
 * if a place has neither the value that the changeset replaced nor the one that it wrote.
 */
export function documentsAsJson(
  table: TableSchema,
  group: ChangeGroup,
  before: BeforeGroup,
  keepsNewer: boolean,
  textOf: (key: readonly CellValue[], columnId: number) => CellValue,
): ChangeGroup {
  const documents = documentColumns(table);
  const values = group.values.map((column, index) => {
    const columnId = group.columnIds[index] as number;
    const rule = documents.get(columnId);
    if (rule === undefined) return column;
    const fields = { table: table.name, column: table.columns.find(({ id }) => id === columnId)?.name ?? '' };
    return column.map((value, row) => {
      const key = group.keys.map((part) => part[row] as CellValue);
      const text = textOf(key, columnId);
      const old = before.values[index]?.[row] ?? null;
      if (isDocumentEdit(value)) return changedText(text, old, rule, keepsNewer, fields);
      const content = documentContent(value);
      if (keepsNewer && text !== old && text !== content) throw new RockpoolError('document-place-missing', fields);
      return content;
    });
  });
  return { ...group, values };
}

function changedText(
  text: CellValue,
  before: CellValue,
  rule: DocumentRule,
  keepsNewer: boolean,
  fields: ErrorFields,
): CellValue {
  const change = typeof before === 'string' ? (JSON.parse(before) as JsonChange | null) : null;
  if (change === null) return text;
  if (typeof text !== 'string') throw new RockpoolError('document-gone', fields);
  const now = parseJson(text, rule);
  const root = PathRule.root(rule);
  const { value, overwritten } = applyChange(now, change, root);
  // The inverse change reports a place unless it has the new value.
  const notNew = applyChange(now, invertChange(change), root).overwritten.map(({ path }) => JSON.stringify(path));
  const isLost = ({ path, isMove }: ChangedPlace): boolean =>
    isMove
      ? keepsNewer
      : notNew.includes(JSON.stringify(path)) &&
        (keepsNewer || JSON.stringify(valueAt(now, path)) === JSON.stringify(valueAt(value, path)));
  if (overwritten.some(isLost)) throw new RockpoolError('document-place-missing', fields);
  return canonicalJson(value);
}
