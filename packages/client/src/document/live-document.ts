import type { Awareness } from 'y-protocols/awareness';
import type { DocumentPath } from '@rockpool/shared/document';
import type { Doc, Text, UndoManager } from 'yjs';

/**
 * A document that is open in this page: its JSON, and the Y.Doc that editors bind to. Get it from `client.document`.
 */
export interface LiveDocument<Value = unknown> {
  /**
   * What editors bind to. Changes made in it are written to the database by and by, each as a change of the JSON that
   * merges with what others change; changes made elsewhere, in this tab or any other or on another device, appear in
   * it. It is this page's own: only the JSON leaves it, so positions in it mean nothing elsewhere (`awareness`
   * translates those of cursors), nor do formats of a text that is not declared as `richText`.
   */
  readonly doc: Doc;
  /**
   * The Y.Text at a path: names of members, and `{ id: 'x' }` for the element of an array that has this key. Null where
   * no text is that merges by character, with formats or without. A text that somebody puts in the place of a whole
   * object is another one. Places count UTF-16 units; what would begin or end between the two halves of a character
   * throws `document-invalid`, and nothing is changed.
   *
   * ```ts
   * new QuillBinding(document.text('body'), quill, document.awareness);
   * ```
   */
  text(...path: DocumentPath): Text | null;
  /** The JSON as it is in this page; null when the document has gone. */
  readonly value: Value | null;
  /** `gone`: the row was deleted or its column set to NULL. What was changed here since is not written. */
  readonly state: 'open' | 'gone' | 'closed';
  /**
   * What keeps the document from being written, if anything does, such as an image in a text: it is tried again with
   * the next change.
   */
  readonly error: Error | null;
  /** Makes the document hold what `next` returns, with the fewest operations. */
  change(next: (value: Value) => Value): void;
  /** Takes back and makes again what was changed in this page through `doc` or `change`. */
  readonly undoManager: UndoManager;
  /**
   * Who has this document open, and where their cursors are, for bindings of editors (y-codemirror, y-quill): the
   * Awareness of y-protocols. From the first time that it is asked for, this tab is seen by the others too. Of `user`
   * nothing is sent: in the states of others it is their name, or principal, as the server knows them, with a colour.
   */
  readonly awareness: Awareness;
  /** Called after every change of `value`, `state` or `error`, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Resolves when everything that was changed here is committed. Rejects with what keeps it from being so. */
  saved(): Promise<void>;
  /** Writes what was changed, then lets go. */
  close(): Promise<void>;
}
