import type { DocumentPath } from '@rockpool/shared/document';
import type { Awareness } from 'y-protocols/awareness';
import type { Doc, Text, UndoManager } from 'yjs';
import type { DocumentHistory } from './row-history.ts';
import type { Subscribable } from './subscribable.ts';

/**
 * A document that is open in this page: its JSON, and the Y.Doc that editors bind to. Returned by `client.document`.
 */
export interface LiveDocument<Value = unknown> extends Subscribable<LiveDocumentState<Value>> {
  /**
   * The Y.Doc that editors bind to. Rockpool writes its changes to the database in the background, each as a JSON
   * change that merges with the changes of others. Changes made elsewhere, in any tab or on another device, appear in
   * it. Only the JSON leaves this page: positions in the Y.Doc mean nothing elsewhere (`awareness` translates the
   * positions of cursors), and formats leave it only for a text that is declared as `richText`.
   *
   * Bind editors to `text(…)`. A root type of an editor's own, such as `doc.getText('other')`, is not part of the
   * document and is never written: `onError` receives `document-invalid` with the problem `root`, once for each open
   * document. `doc.destroy()` closes the document like `close`; `onError` receives what `close` would reject with.
   */
  readonly doc: Doc;
  /**
   * Returns the Y.Text at a path of member names, with `{ id: 'x' }` for the array element that has this key. Null if
   * there is no text at the path that merges by character, with or without formats. Replacing a whole object also
   * replaces its texts. Positions count UTF-16 units; an operation that would start or end inside a surrogate pair
   * throws `document-invalid` and changes nothing.
   *
   * ```ts
   * new QuillBinding(document.text('body'), quill, document.awareness);
   * ```
   */
  text(...path: DocumentPath): Text | null;
  /**
   * Changes the document to the return value of `next`, with the fewest operations. Throws `document-invalid` for a
   * value that is not JSON (such as a member that is undefined) or that the rule of the column does not allow, and
   * `client-closed` after `close`, and changes nothing.
   */
  change(next: (value: Value) => Value): void;
  /** Undoes and redoes the changes made in this page through `doc` or `change`. */
  readonly undoManager: UndoManager;
  /**
   * The other tabs that have this document open, with their cursors: the Awareness of y-protocols for editor bindings
   * (y-codemirror, y-quill). Reading it also shows this tab to the others. `user` is never sent: in the states of
   * others it holds the name (or principal) that the server verified, and a colour.
   */
  readonly awareness: Awareness;
  /** Opens the history of the document. Rejects like `client.history`. */
  history(): Promise<DocumentHistory<Value>>;
  /**
   * Resolves when the changes made here before the call are committed, even if the user continues to type. Rejects with
   * the error that prevents this.
   */
  saved(): Promise<void>;
  /**
   * Writes pending changes, then closes the document. Rejects like `saved`, and closes the document nevertheless. An
   * editor may still change the Y.Doc of a closed document: these changes are not written, `onError` receives
   * `client-closed` for the first of them (`closed` is `document`), and `saved` rejects with it from then on. The same
   * is true of an open document whose client is closed (`closed` is `client`).
   */
  close(): Promise<void>;
}

/** The current state of an open document. */
export interface LiveDocumentState<Value = unknown> {
  /**
   * The JSON of the document in this page, read at the first access; null when the document is gone. While the page has
   * content that JSON cannot express, the last JSON in the database.
   */
  readonly value: Value | null;
  /**
   * `gone`: the row was deleted or its column set to NULL. Changes in this page are not written. If the row comes back,
   * for example by an undo, the document is `open` again, and they are written then.
   */
  readonly state: 'open' | 'gone' | 'closed';
  /** Why the document cannot be written, for example an image in a text. The next change retries. */
  readonly error: Error | null;
}
