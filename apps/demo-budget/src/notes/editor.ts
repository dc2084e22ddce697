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

// Loaded when notes are opened, and not before: see note-editor.tsx.

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

/** What a note may have. What is pasted keeps these and loses all else. */
const FORMATS = ['bold', 'italic', 'strike', 'header', 'list'];

/** The Tab key leaves the editor: whoever has no mouse would never get out. */
const NO_TABS = { indent: null, outdent: null, tab: null, 'remove tab': null, underline: null };

export interface EditorOptions {
  /** For screen readers. */
  readonly label: string;
  /** False: the text is only to be read, and to be copied. */
  readonly mayWrite: boolean;
  /** True: what is typed next goes into it. */
  readonly focused: boolean;
  /** What stands where nothing is written yet. */
  readonly hint: string;
}

/**
 * Binds an editor to the notes: what is typed goes into the document, what others type appears, with their cursors.
 * Returns what ends it.
 */
export function mountEditor(
  host: HTMLElement,
  note: LiveDocument<NoteContent>,
  { label, mayWrite, focused, hint }: EditorOptions,
): () => void {
  const body = note.text('body');
  if (body === null) throw new Error('A note without a body was opened.');
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
  // To be read from the keyboard as well.
  if (!mayWrite) root.tabIndex = 0;
}
