import { deleteDocuments, writeDocument } from '../documents/document-store.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { MergedRow } from './merged-row.ts';

/** Writes the documents of merged rows. Call it after the rows are written to the app's tables. */
export function writeDocuments(file: DatabaseFile, rows: readonly MergedRow[], watermark: number): void {
  for (const { write, before, after } of rows) {
    const { table, keyBytes } = write;
    if (table.documents.size === 0 || before === after) continue;
    if (after?.row.deleted !== null) {
      deleteDocuments(file.sql, table, keyBytes);
      continue;
    }
    for (const columnId of table.documents.keys()) {
      const cell = after.row.cells.get(columnId);
      const old = before?.row.deleted === null ? before.row.cells.get(columnId) : undefined;
      if (cell !== old)
        writeDocument(
          file,
          { table, keyBytes, columnId },
          cell?.value ?? null,
          write.values.get(columnId) ?? null,
          watermark,
        );
    }
  }
}
