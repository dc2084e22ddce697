import type { LiveDocument } from '@rockpool/client';
import { defaultKeymap } from '@codemirror/commands';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next';
import type { Map as YMap, Text } from 'yjs';
import type { NoteContent } from './actions.ts';

// Loaded when notes are opened, and not before: see notes-view.tsx.

/** The app's colours and type; the names beside the cursors of others are always to be read. */
const theme = EditorView.theme({
  '&': { color: 'var(--text)', background: 'transparent', fontSize: '1rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: '1.6' },
  '.cm-content': { minHeight: 'var(--note-height, 16rem)', padding: '0.6rem 0', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 0.9rem' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--accent-soft)' },
  '.cm-placeholder': { color: 'var(--text-soft)' },
  '.cm-ySelectionInfo': { opacity: '1', top: '-1.15em', padding: '0 0.3em', borderRadius: '3px', fontFamily: 'inherit', fontSize: '0.68rem', lineHeight: '1.25', pointerEvents: 'none' },
  '.cm-ySelectionCaretDot': { display: 'none' },
});

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

/** Binds an editor to the notes: what is typed goes into the document, what others type appears, with their cursors. Returns what ends it. */
export function mountEditor(host: HTMLElement, document: LiveDocument<NoteContent>, { label, mayWrite, focused, hint }: EditorOptions): () => void {
  const body = (document.doc.getMap('json').get('value') as YMap<unknown>).get('body') as Text;
  // In a shadow root the editor's own styles are not inline ones, which the page's policy forbids.
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: body.toJSON(),
      extensions: [
        keymap.of([...yUndoManagerKeymap, ...defaultKeymap]),
        EditorState.readOnly.of(!mayWrite),
        EditorView.editable.of(mayWrite),
        drawSelection(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-multiline': 'true', spellcheck: 'true' }),
        placeholder(hint),
        yCollab(body, document.awareness, { undoManager: document.undoManager }),
        theme,
      ],
    }),
  });
  if (focused) view.focus();
  return () => view.destroy();
}
