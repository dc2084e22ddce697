import { NO_VERSION, type Version } from '@rockpool/shared';
import { clientsOf, operationsIn, type OperationId } from '@rockpool/shared/document';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { DocumentFile } from './document-file.ts';
import { keyOf, type DocumentPlace } from './document-place.ts';

/*
 * The authors of the operations in a document, for the conflict log. Edits that are still kept (document-edits.ts) have
 * exact authors. For older edits only the Yjs client is known, which belongs to one site, and the watermark of that
 * client's last edit.
 */

/** The current document, or the one that it replaced when it was compacted. */
export type WhichDocument = 'now' | 'replaced';

/** Records the authors of kept edits up to a watermark. Call it before deleting those edits. */
export function rememberAuthorsOfEdits(
  sql: SqliteFile,
  place: DocumentPlace,
  upTo: number = Number.MAX_SAFE_INTEGER,
): void {
  const edits = sql.all(
    'SELECT watermark, yjs FROM rockpool_document_edit WHERE table_id = ? AND key = ? AND column_id = ? AND watermark <= ? ORDER BY watermark',
    ...keyOf(place),
    BigInt(upTo),
  );
  for (const [watermark, yjs] of edits)
    rememberAuthors(sql, place, 'now', clientsOf(yjs as Uint8Array), Number(watermark));
}

export function rememberAuthors(
  sql: SqliteFile,
  place: DocumentPlace,
  which: WhichDocument,
  clients: readonly number[],
  watermark: number,
): void {
  for (const client of clients) {
    sql.run(
      'INSERT INTO rockpool_document_author (table_id, key, column_id, of_replaced, client, watermark) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET watermark = excluded.watermark',
      ...keyOf(place),
      flagOf(which),
      BigInt(client),
      BigInt(watermark),
    );
  }
}

/** Makes the recorded authors those of the replaced document, because the current one was compacted. */
export function moveAuthorsToReplaced(sql: SqliteFile, place: DocumentPlace): void {
  sql.run(
    'DELETE FROM rockpool_document_author WHERE table_id = ? AND key = ? AND column_id = ? AND of_replaced = 1',
    ...keyOf(place),
  );
  sql.run(
    'UPDATE rockpool_document_author SET of_replaced = 1 WHERE table_id = ? AND key = ? AND column_id = ? AND of_replaced = 0',
    ...keyOf(place),
  );
}

export function forgetAuthors(sql: SqliteFile, place: DocumentPlace): void {
  sql.run('DELETE FROM rockpool_document_author WHERE table_id = ? AND key = ? AND column_id = ?', ...keyOf(place));
}

interface KeptEdit {
  readonly watermark: number;
  readonly contains: (operation: OperationId) => boolean;
}

/**
 * Finds the authors of operations of one document, for all conflicts of an edit: the kept edits are read once, because
 * they may be as large as the document, and the conflicts may be thousands.
 */
export class OperationAuthors {
  private readonly file: Pick<DocumentFile, 'sql' | 'sites'>;
  private readonly place: DocumentPlace;
  private edits: readonly KeptEdit[] | null = null;

  constructor(file: Pick<DocumentFile, 'sql' | 'sites'>, place: DocumentPlace) {
    this.file = file;
    this.place = place;
  }

  /** The author and time of the latest of several operations of a document. NO_VERSION for none. */
  versionOf(which: WhichDocument, operations: readonly OperationId[]): Version {
    const { sql, sites } = this.file;
    const watermark = operations.reduce((latest, id) => Math.max(latest, this.watermarkOf(which, id)), 0);
    const entry = sql.get('SELECT stamp_us, site_number FROM rockpool_log WHERE watermark = ?', BigInt(watermark));
    return entry === undefined
      ? NO_VERSION
      : { stampUs: Number(entry[0]), site: sites.siteOf(Number(entry[1])), watermark };
  }

  private watermarkOf(which: WhichDocument, operation: OperationId): number {
    const edit = which === 'now' ? this.keptEdits().find(({ contains }) => contains(operation)) : undefined;
    if (edit !== undefined) return edit.watermark;
    const [watermark] =
      this.file.sql.get(
        'SELECT watermark FROM rockpool_document_author WHERE table_id = ? AND key = ? AND column_id = ? AND of_replaced = ? AND client = ?',
        ...keyOf(this.place),
        flagOf(which),
        BigInt(operation.client),
      ) ?? [];
    return Number(watermark ?? 0);
  }

  /** Newest first. */
  private keptEdits(): readonly KeptEdit[] {
    return (this.edits ??= this.file.sql
      .all(
        'SELECT watermark, yjs FROM rockpool_document_edit WHERE table_id = ? AND key = ? AND column_id = ? ORDER BY watermark DESC',
        ...keyOf(this.place),
      )
      .map(([watermark, yjs]) => ({ watermark: Number(watermark), contains: operationsIn(yjs as Uint8Array) })));
  }
}

function flagOf(which: WhichDocument): bigint {
  return which === 'replaced' ? 1n : 0n;
}
