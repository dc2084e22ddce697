import type { Sites } from '../log/sites.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { DocumentDesk } from './document-desk.ts';

/** The parts of a database file with which its documents are read, merged and written. */
export interface DocumentFile {
  readonly sql: SqliteFile;
  readonly sites: Sites;
  readonly documents: DocumentDesk;
}
