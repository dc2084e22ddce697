import {
  documentColumns,
  RockpoolError,
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
  invertChange,
  parseJson,
  PathRule,
  valueAt,
  type ChangedPlace,
  type JsonChange,
} from '@rockpool/shared/document';

/** What a document column contains now, and what a changeset did to it. */
interface ChangedDocument {
  readonly table: TableSchema;
  readonly columnId: number;
  readonly rule: DocumentRule;
  readonly text: CellValue;
  readonly before: CellValue;
}

/**
 * Converts a captured group to the form in which the app would write it now: documents as JSON. An edit becomes the
 * current JSON with the recorded change applied. `textOf` reads the current value of a document column.
 *
 * An edit is converted as a whole or not at all. Throws `document-gone` if the column is NULL, and
 * `document-place-missing` if a place that the edit changes no longer exists. If `keepsNewer`, throws `document-gap` in
 * these cases, and also if a place has neither the value that the changeset replaced nor the one that it wrote.
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
    return column.map((value, row) => {
      if (group.kind === 'insert') return contentText(value);
      const key = group.keys.map((part) => part[row] as CellValue);
      const text = textOf(key, columnId);
      const old = before.values[index]?.[row] ?? null;
      if (isDocumentEdit(value)) return changedText({ table, columnId, rule, text, before: old }, keepsNewer);
      const content = contentText(value);
      if (keepsNewer && text !== old && text !== content) throw new RockpoolError('document-gap');
      return content;
    });
  });
  return { ...group, values };
}

function contentText(value: CellValue): CellValue {
  if (value === null) return null;
  const cell = decodeDocumentCell(value);
  return cell.kind === 'content' ? cell.json : null;
}

function changedText({ table, columnId, rule, text, before }: ChangedDocument, keepsNewer: boolean): CellValue {
  const change = typeof before === 'string' ? (JSON.parse(before) as JsonChange | null) : null;
  if (change === null) return text;
  const failed = (code: 'document-gone' | 'document-place-missing'): RockpoolError =>
    keepsNewer
      ? new RockpoolError('document-gap')
      : new RockpoolError(code, {
          table: table.name,
          column: table.columns.find(({ id }) => id === columnId)?.name ?? null,
        });
  if (typeof text !== 'string') throw failed('document-gone');
  const now = parseJson(text, rule);
  const path = PathRule.root(rule);
  const { value, overwritten } = applyChange(now, change, path);
  if (overwritten.length > 0) {
    // The inverse change reports a place unless it has the new value.
    const notNew = new Set(applyChange(now, invertChange(change), path).overwritten.map(placeId));
    const isLost = (place: ChangedPlace): boolean =>
      keepsNewer || JSON.stringify(valueAt(now, place.path)) === JSON.stringify(valueAt(value, place.path));
    if (overwritten.some((place) => (place.isMove ? keepsNewer : notNew.has(placeId(place)) && isLost(place))))
      throw failed('document-place-missing');
  }
  return canonicalJson(value);
}

const placeId = ({ path }: ChangedPlace): string => JSON.stringify(path);
