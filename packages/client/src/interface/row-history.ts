import type { RockpoolError } from '@rockpool/shared';
import type { DocumentPath } from '@rockpool/shared/document';
import type { SqlRow, SqlValue } from '../rpc/sql-value.ts';
import type { Subscribable } from './subscribable.ts';

/** One column of a row in one version. */
export interface ColumnChange {
  readonly column: string;
  /** NULL before an insert. */
  readonly before: SqlValue;
  /** NULL after a delete. */
  readonly after: SqlValue;
  /** The column is a document that changed; both values are null. Read it with `history.at`. */
  readonly isDocument: boolean;
}

/** A version of a row: the row after one transaction. */
export interface RowVersion {
  /**
   * Identifies the version: the watermark under which the server admitted it. Null while the server has not admitted
   * this device's transaction.
   */
  readonly version: number | null;
  readonly kind: 'insert' | 'update' | 'delete';
  /** The principal who wrote it. Null for a version of this device whose principal the app does not name. */
  readonly author: string | null;
  /** The site that wrote it, 32 hex digits. */
  readonly siteId: string;
  /**
   * The number of the transaction at its site. With `siteId`, it identifies the version before and after it is
   * admitted.
   */
  readonly sequence: number;
  /** Whether it was written on this device. */
  readonly isOwn: boolean;
  /**
   * When it was written, in ms since 1970: by the server's clock once it is admitted, by this device's clock before.
   */
  readonly writtenMs: number;
  /** When the server received it. Null while it is not admitted. */
  readonly receivedMs: number | null;
  /** For an insert or delete, all columns outside the key; for an update, those whose value changed. */
  readonly changes: readonly ColumnChange[];
  /** Its names, given by `history.name`. The names of a version of a document are in its DocumentHistory. */
  readonly names: readonly string[];
  /**
   * The current columns that did not exist at this version. The row has no values for them; `changes` and `at` omit
   * them.
   */
  readonly laterColumns: readonly string[];
}

/** A name of a version of a row or document. */
export interface VersionName {
  readonly name: string;
  /** The site and number of the transaction, as in RowVersion. */
  readonly siteId: string;
  readonly sequence: number;
  /** When the version was written, in ms since 1970. */
  readonly writtenMs: number;
}

/** Versions of a row, newest first. */
export interface RowHistoryPage {
  readonly versions: readonly RowVersion[];
  /** `before` of the next page; null on the last one. */
  readonly next: number | null;
  /**
   * `server`: all versions up to `completeUntilMs`, and those of this device that the server has not admitted yet.
   * `device`: only the versions of this device's own recent transactions, because the server could not be asked
   * (`error` says why).
   */
  readonly source: 'server' | 'device';
  /** The time up to which every version is known, in ms since 1970. Null if the versions of others are unknown. */
  readonly completeUntilMs: number | null;
  /**
   * True on the last page if versions older than the last one are no longer kept, or were never kept because the table
   * did not declare a history.
   */
  readonly isTruncated: boolean;
  /** Why the server was not asked; of a live value, also why the versions could not be read. */
  readonly error: RockpoolError | null;
}

/** The newest versions of a row at present. */
export interface RowHistoryState extends RowHistoryPage {
  /** True until the first result or error. */
  readonly loading: boolean;
}

/**
 * The history of one row. As a live value it has the newest versions: it reads them again when the row changes here or
 * arrives from the server, when a version of the row or of its documents gets or loses a name, and when the server
 * admits a pending version. While the server cannot be reached, it keeps the versions that it has read.
 */
export interface RowHistory extends Subscribable<RowHistoryState> {
  /**
   * Reads versions once: the newest ones, or those before `before`, which is the `next` of the previous page. `limit`
   * is 20 by default, at most 200.
   */
  page(options?: { readonly before?: number; readonly limit?: number }): Promise<RowHistoryPage>;
  /** Adds the next page to the live value. Does nothing after the last one. */
  more(): Promise<void>;
  /**
   * Resolves with the row after a version, by column, with documents as JSON; null if the version deleted it. Columns
   * that did not exist yet are left out. A string names a version. Needs the server. Rejects with
   * `history-version-gone` (`oldestVersion` is the oldest version that is kept, which the server received at
   * `oldestMs`), for a name with `version-name-missing`, and with `changes-unsent` while this device has not sent the
   * version; also with `network-unreachable` and other errors of the connection.
   */
  at(version: number | string): Promise<SqlRow | null>;
  /**
   * Writes the row of a version in a new transaction, which merges, syncs and can be undone like any other. With
   * `columns`, writes only those columns. Restores a deleted row, unless `columns` are named, and deletes the row for a
   * version that deleted it. Columns that did not exist yet keep their values, and have their defaults in a row that
   * was deleted. Rejects like `at`, and with the errors of a write. With `columns`, also rejects with `config-invalid`
   * if it is empty, with `row-missing` if the row no longer exists, and with `history-version-gone` if the version
   * lacks one of these columns; the field `column` names it.
   */
  restore(version: number | string, options?: { readonly columns?: readonly string[] }): Promise<void>;
  /**
   * Names a version of `page` or of the live value, even one that is not sent yet. This is an ordinary write to the
   * table `versionName` of `@rockpool/client/schema`, which works offline, syncs and can be undone. A name has 1 to 100
   * characters without white space around it, and belongs to one version of the row; a row has at most 100. Rejects
   * with `version-name-invalid`, `version-name-taken`, `version-names-full`, `version-names-undeclared` if the schema
   * lacks the table, and with the errors of a write.
   */
  name(version: Pick<RowVersion, 'siteId' | 'sequence' | 'writtenMs'>, name: string): Promise<void>;
  /** Gives a version a different name, in one transaction. Rejects like `unname` and `name`. */
  rename(name: string, newName: string): Promise<void>;
  /** Removes a name. Rejects with `version-name-missing`, `version-names-undeclared` and the errors of a write. */
  unname(name: string): Promise<void>;
  /**
   * Resolves with the names of the row's versions, starting with the newest version, including versions that are no
   * longer kept.
   */
  names(): Promise<readonly VersionName[]>;
  /** The history of a document column of the row. Throws `document-unknown` for any other column. */
  document<Value = unknown>(column: string): DocumentHistory<Value>;
}

/** Consecutive edits of one author. A pause of some minutes begins a new version. */
export interface DocumentVersion {
  /** Identifies the last of the edits, for `at`, `diff` and `restore`. Null while the server has not admitted them. */
  readonly version: number | null;
  /** The site and number of the last of the edits; see RowVersion. */
  readonly siteId: string;
  readonly sequence: number;
  /** The principal who wrote the edits; see RowVersion. */
  readonly author: string | null;
  /** `insert`: the first of the edits created the row. `delete`: the row was deleted. */
  readonly kind: 'insert' | 'update' | 'delete';
  /** When the first of the edits was written, in ms since 1970. */
  readonly fromMs: number;
  /** When the last of the edits was written, in ms since 1970. */
  readonly untilMs: number;
  /** The number of edits. */
  readonly count: number;
  /** Its names, given by `name`. Edits after a named version begin a new version. */
  readonly names: readonly string[];
}

/** Versions of a document, newest first. The other members are those of RowHistoryPage. */
export interface DocumentHistoryPage extends Omit<RowHistoryPage, 'versions'> {
  readonly versions: readonly DocumentVersion[];
}

/**
 * An operation of a JSON Patch (RFC 6902), with the value that it replaces or removes. `path` is a JSON Pointer.
 * `text`: the ranges of a text that changed, in UTF-16 units of the old text.
 */
export type DocumentOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string; readonly oldValue: unknown }
  | {
      readonly op: 'replace';
      readonly path: string;
      readonly value: unknown;
      readonly oldValue: unknown;
      readonly text?: readonly { readonly at: number; readonly removed: string; readonly inserted: string }[];
    };

/** The history of one document. Its table must declare a history. */
export interface DocumentHistory<Value = unknown> {
  /**
   * Reads versions: the newest ones, or those before `before`, which is the `next` of the previous page. `limit` is 20
   * by default. Consecutive edits of one author form one version, unless the author pauses for `pauseMs`, by default
   * five minutes.
   */
  page(options?: {
    readonly before?: number;
    readonly limit?: number;
    readonly pauseMs?: number;
  }): Promise<DocumentHistoryPage>;
  /** Resolves with the JSON of a version; null if the row or the document did not exist. Rejects like RowHistory.at. */
  at(version: number | string): Promise<Value | null>;
  /** Resolves with the operations that turn one version into the other. Rejects like `at`. */
  diff(from: number | string, to: number | string): Promise<readonly DocumentOperation[]>;
  /**
   * Writes the document of a version, as a new edit that merges, syncs and can be undone like any other. With `path`,
   * writes only the value at that path, or removes it if the version has no value there. A path consists of member
   * names, indexes, and `{ id: 'x' }` for the array element that has this key.
   *
   * Rejects like RowHistory.restore, with `document-gone` if the version, or for `path` the current row, has no
   * document, and with `document-place-missing` if the current document has no object or array that could contain the
   * value.
   */
  restore(version: number | string, options?: { readonly path?: DocumentPath }): Promise<void>;
  /**
   * Names a version of the document. Names of the document are independent of those of the row. Rejects like
   * RowHistory.name.
   */
  name(version: Pick<DocumentVersion, 'siteId' | 'sequence' | 'untilMs'>, name: string): Promise<void>;
  /** See RowHistory.rename. */
  rename(name: string, newName: string): Promise<void>;
  /** See RowHistory.unname. */
  unname(name: string): Promise<void>;
  /** See RowHistory.names. */
  names(): Promise<readonly VersionName[]>;
}
