import type { CellValue } from '@rockpool/shared';
import { decodeDocumentCell } from '@rockpool/shared/document';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { keyOf, type DocumentPlace } from './document-place.ts';

/*
 * The ids of a document before its last two compactions. They are in the table of its authors, which is cleared when
 * other content or NULL replaces the document. An edit that names one of them was made in this document. Any other
 * unknown id may be that of a different document.
 */

/** Records a form that is no longer kept, because the document was compacted again at this watermark. */
export function rememberForm(sql: SqliteFile, place: DocumentPlace, form: CellValue, watermark: number): void {
  sql.run(
    'INSERT INTO rockpool_document_author (table_id, key, column_id, of_replaced, client, watermark) VALUES (?, ?, ?, 2, ?, ?) ON CONFLICT DO NOTHING',
    ...keyOf(place),
    idOf(form),
    BigInt(watermark),
  );
}

/** Whether the edit was made in an earlier form of the document. */
export function isOfEarlierForm(sql: SqliteFile, place: DocumentPlace, edit: CellValue): boolean {
  return (
    sql.get(
      'SELECT 1 FROM rockpool_document_author WHERE table_id = ? AND key = ? AND column_id = ? AND of_replaced = 2 AND client = ?',
      ...keyOf(place),
      idOf(edit),
    ) !== undefined
  );
}

function idOf(cell: CellValue): bigint {
  const { documentId } = decodeDocumentCell(cell) as { readonly documentId: Uint8Array };
  return new DataView(documentId.buffer, documentId.byteOffset).getBigInt64(0);
}
