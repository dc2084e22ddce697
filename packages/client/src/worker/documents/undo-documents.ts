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
  documentText,
  invertChange,
  isDocumentEdit,
  parseJson,
  PathRule,
  type JsonChange,
} from '@rockpool/shared/document';

/** Returns a captured group with whole documents as text, as the app's table has them. Edits are unchanged. */
export function withDocumentTexts(
  table: TableSchema,
  group: ChangeGroup,
  before: BeforeGroup,
): { readonly group: ChangeGroup; readonly before: BeforeGroup } {
  const documents = documentColumns(table);
  const inTexts = ({ columnIds, values }: BeforeGroup): BeforeGroup => ({
    columnIds,
    values: values.map((column, index) =>
      documents.has(columnIds[index] as number) ? column.map(documentContent) : column,
    ),
  });
  if (group.kind === 'update') return { group, before };
  return { group: { ...group, ...inTexts(group) }, before: inTexts(before) };
}

/**
 * The text that reverts a write of a document; undefined if others have replaced what it wrote. An edit is reverted by
 * the inverse of its change, so that edits elsewhere in the document are kept.
 */
export function undoDocument(
  text: CellValue,
  written: CellValue,
  before: CellValue,
  rule: DocumentRule,
): CellValue | undefined {
  if (!isDocumentEdit(written)) return text === documentContent(written) ? before : undefined;
  const change = typeof before === 'string' ? (JSON.parse(before) as JsonChange | null) : null;
  if (change === null) return text;
  if (typeof text !== 'string') return undefined;
  const { value, overwritten } = applyChange(parseJson(text, rule), invertChange(change), PathRule.root(rule));
  return overwritten.length === 0 ? canonicalJson(value) : undefined;
}

/** The JSON of a whole document, given as content or as a state. */
export function documentContent(value: CellValue): CellValue {
  if (!(value instanceof Uint8Array)) return value;
  const cell = decodeDocumentCell(value);
  return cell.kind === 'content' ? cell.json : documentText(value);
}
