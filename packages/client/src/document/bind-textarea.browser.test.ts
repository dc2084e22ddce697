import { afterEach, describe, expect, it } from 'vitest';
import { Doc, type Text } from 'yjs';
import { bindTextarea } from './bind-textarea.ts';

interface Page {
  readonly textarea: HTMLTextAreaElement;
  readonly text: () => Text;
  /** Types at the caret, like a keyboard. */
  readonly type: (letters: string) => void;
  readonly unbind: () => void;
  /** Replaces the bound text with another one. */
  readonly replaceText: (content: string | null) => void;
  /** Reports that the document is gone. */
  readonly deleteDocument: () => void;
}

const opened: (() => void)[] = [];
afterEach(() => {
  for (const end of opened.splice(0)) end();
});

function openPage(content: string): Page {
  const doc = new Doc();
  const listeners = new Set<() => void>();
  let name: string | null = 'text 0';
  let count = 0;
  let state: 'open' | 'gone' = 'open';
  doc.getText('text 0').insert(0, content);
  const textarea = document.createElement('textarea');
  document.body.append(textarea);
  textarea.focus();
  const unbind = bindTextarea(
    textarea,
    {
      text: () => (name === null ? null : doc.getText(name)),
      subscribe: (listener) => {
        const call = (): void => listener({ value: null, state, error: null });
        listeners.add(call);
        call();
        return () => listeners.delete(call);
      },
    },
    'note',
  );
  opened.push(unbind, () => textarea.remove());
  return {
    textarea,
    unbind,
    text: () => doc.getText(name ?? ''),
    type: (letters) => void document.execCommand('insertText', false, letters),
    replaceText: (next) => {
      name = next === null ? null : `text ${++count}`;
      if (name !== null) doc.getText(name).insert(0, next ?? '');
      for (const listener of listeners) listener();
    },
    deleteDocument: () => {
      state = 'gone';
      for (const listener of listeners) listener();
    },
  };
}

/** The value with the caret as `|`. */
function shown({ value, selectionStart, selectionEnd }: HTMLTextAreaElement): string {
  expect(selectionEnd).toBe(selectionStart);
  return `${value.slice(0, selectionStart)}|${value.slice(selectionStart)}`;
}

describe('a textarea that is bound to a text', () => {
  it('keeps the characters of each of two users together while they type at different places', () => {
    const { textarea, text, type } = openPage('hello');
    textarea.setSelectionRange(0, 0);
    for (const [mine, theirs] of [
      ['o', ' '],
      ['h', 'w'],
      [',', 'o'],
      [' ', 'r'],
    ] as const) {
      type(mine);
      text().insert(text().length, theirs);
    }
    expect(shown(textarea)).toBe('oh, |hello wor');
    expect(text().toJSON()).toBe('oh, hello wor');
  });

  it('moves the caret with the characters around it', () => {
    const { textarea, text } = openPage('one two three');
    textarea.setSelectionRange(7, 7);
    text().insert(0, 'zero ');
    expect(shown(textarea)).toBe('zero one two| three');
    text().insert(12, '!');
    expect(shown(textarea)).toBe('zero one two|! three');
    text().delete(5, 4);
    expect(shown(textarea)).toBe('zero two|! three');
    text().delete(4, 6);
    expect(shown(textarea)).toBe('zero|three');
    text().doc?.transact(() => {
      text().insert(9, '.');
      text().insert(0, '- ');
    });
    expect(shown(textarea)).toBe('- zero|three.');
  });

  it('keeps a selection', () => {
    const { textarea, text } = openPage('one two three');
    textarea.setSelectionRange(4, 7, 'backward');
    text().insert(0, '1 ');
    expect([textarea.selectionStart, textarea.selectionEnd, textarea.selectionDirection]).toEqual([6, 9, 'backward']);
  });

  it('inserts a character at the caret among equal characters, and deletes only the characters that the user deleted', () => {
    const { textarea, text, type } = openPage('aaaa');
    const edits: unknown[] = [];
    text().observe(({ delta }) => edits.push(delta));
    textarea.setSelectionRange(2, 2);
    type('a');
    document.execCommand('delete');
    textarea.setSelectionRange(1, 3);
    type('b');
    expect(edits).toEqual([
      [{ retain: 2 }, { insert: 'a' }],
      [{ retain: 2 }, { delete: 1 }],
      [{ retain: 1 }, { delete: 2 }, { insert: 'b' }],
    ]);
    expect(text().toJSON()).toBe('aba');
  });

  it('never splits a character', () => {
    const { textarea, text, type } = openPage('😀');
    textarea.setSelectionRange(0, 2);
    type('😁');
    expect(text().toJSON()).toBe('😁');
    text().insert(2, '😂');
    expect(shown(textarea)).toBe('😁|😂');
  });

  it('shows line breaks of any kind, and keeps them', () => {
    const { textarea, text, type } = openPage('one\r\ntwo\rthree');
    expect(textarea.value).toBe('one\ntwo\nthree');
    textarea.setSelectionRange(8, 8);
    type('> ');
    text().insert(0, '\r\n');
    expect(shown(textarea)).toBe('\none\ntwo\n> |three');
    expect(text().toJSON()).toBe('\r\none\r\ntwo\r> three');
  });

  it('shows changes by others only after a composition ends, and inserts the composed characters where they were typed', () => {
    const { textarea, text, type } = openPage('ab');
    textarea.setSelectionRange(1, 1);
    textarea.dispatchEvent(new CompositionEvent('compositionstart'));
    type('k');
    text().insert(0, '12');
    text().insert(4, '!');
    type('a');
    expect([textarea.value, text().toJSON()]).toEqual(['akab', '12ab!']);
    textarea.dispatchEvent(new CompositionEvent('compositionend'));
    expect(shown(textarea)).toBe('12aka|b!');
    expect(text().toJSON()).toBe('12akab!');
  });

  it('switches to a text that replaces its own, and is read-only while there is no text', () => {
    const { textarea, text, type, replaceText } = openPage('one two');
    textarea.setSelectionRange(3, 3);
    replaceText('so one two');
    expect(shown(textarea)).toBe('so one| two');
    type('!');
    expect(text().toJSON()).toBe('so one! two');
    replaceText(null);
    expect([textarea.value, textarea.readOnly]).toEqual(['', true]);
    replaceText('back');
    expect([textarea.value, textarea.readOnly]).toEqual(['back', false]);
  });

  it('shows a text that replaces its own while the user types, and does not write its content again', () => {
    const { textarea, text, type, replaceText } = openPage('one');
    const replaced = text();
    replaced.doc?.once('update', () => {
      replaced.delete(0, replaced.length);
      replaceText('two');
    });
    type('!');
    expect([textarea.value, text().toJSON()]).toEqual(['two', 'two']);
    textarea.setSelectionRange(3, 3);
    type('?');
    expect([textarea.value, text().toJSON()]).toEqual(['two?', 'two?']);
  });

  it('is empty and read-only when the document is gone, because what is typed would be lost', () => {
    const { textarea, deleteDocument } = openPage('one two');
    deleteDocument();
    expect([textarea.value, textarea.readOnly]).toEqual(['', true]);
  });

  it('writes the composed text when the binding ends, and nothing afterwards', () => {
    const { textarea, text, type, unbind } = openPage('a');
    textarea.dispatchEvent(new CompositionEvent('compositionstart'));
    textarea.setSelectionRange(1, 1);
    type('b');
    const bound = text();
    unbind();
    expect(bound.toJSON()).toBe('ab');
    type('c');
    bound.insert(0, 'z');
    expect(bound.toJSON()).toBe('zab');
  });
});
