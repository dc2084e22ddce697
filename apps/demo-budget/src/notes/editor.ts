import type { LiveDocument } from '@rockpool/client';
import Quill from 'quill/core.js';
import Bold from 'quill/formats/bold.js';
import Header from 'quill/formats/header.js';
import Italic from 'quill/formats/italic.js';
import List from 'quill/formats/list.js';
import Strike from 'quill/formats/strike.js';
import { QuillBinding } from 'y-quill';
import type { NoteContent } from './actions.ts';
import './editor.css';
import { OthersCursors } from './others-cursors.ts';
import { toolBindings, Toolbar } from './toolbar.ts';
import { SharedHistory } from './shared-history.ts';

// Loaded on demand when notes are opened; see note-editor.tsx.

Quill.register(
  {
    'formats/bold': Bold,
    'formats/italic': Italic,
    'formats/strike': Strike,
    'formats/header': Header,
    'formats/list': List,
    'modules/cursors': OthersCursors,
    'modules/history': SharedHistory,
  },
  true,
);

/** The formats a note may have. Pasted text keeps these and loses all others. */
const FORMATS = ['bold', 'italic', 'strike', 'header', 'list'];

/** The Tab key leaves the editor; otherwise keyboard users could not get out. */
const NO_TABS = { indent: null, outdent: null, tab: null, 'remove tab': null, underline: null };

export interface EditorOptions {
  /** For screen readers. */
  readonly label: string;
  /** False if the text is read-only and can be copied. */
  readonly mayWrite: boolean;
  /** True if the editor takes the focus. */
  readonly focused: boolean;
  /** Placeholder for an empty note. */
  readonly hint: string;
}

/**
 * Binds an editor to the note: typed text goes into the document, and edits by others appear with their cursors.
 * Returns a function that unbinds it.
 */
export function mountEditor(
  host: HTMLElement,
  note: LiveDocument<NoteContent>,
  { label, mayWrite, focused, hint }: EditorOptions,
): () => void {
  const body = note.text('body');
  if (body === null) throw new Error('The note document has no body field');
  const container = document.createElement('div');
  host.append(container);
  const quill = new Quill(container, {
    formats: FORMATS,
    placeholder: hint,
    readOnly: !mayWrite,
    modules: {
      cursors: true,
      history: { undoManager: note.undoManager },
      keyboard: { bindings: { ...NO_TABS, ...toolBindings() } },
    },
  });
  describe(quill.root, label, mayWrite);
  const binding = new QuillBinding(body, quill, note.awareness);
  note.undoManager.addTrackedOrigin(binding);
  const toolbar = mayWrite ? new Toolbar(quill, `Formats of ${label}`) : null;
  if (toolbar !== null) host.prepend(toolbar.element);
  if (focused) quill.focus();
  return () => {
    note.undoManager.removeTrackedOrigin(binding);
    binding.destroy();
    (quill.getModule('cursors') as OthersCursors).end();
    host.replaceChildren();
  };
}

function describe(root: HTMLElement, label: string, mayWrite: boolean): void {
  root.setAttribute('role', 'textbox');
  root.setAttribute('aria-multiline', 'true');
  root.setAttribute('aria-label', label);
  root.setAttribute('aria-readonly', String(!mayWrite));
  root.setAttribute('spellcheck', 'true');
  // Focusable, so that keyboard users can read it.
  if (!mayWrite) root.tabIndex = 0;
}
