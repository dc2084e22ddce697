import { expect, it } from 'vitest';
import * as Y from 'yjs';
import { withWholeCharacters } from './whole-characters.ts';

/** A text with a surrogate pair in the middle, at 4 and 5. */
function textWith(content = 'low 👍 tide'): Y.Text {
  const text = new Y.Doc().getText('body');
  text.insert(0, content);
  return withWholeCharacters(text);
}

it.each<[what: string, change: (text: Y.Text) => void]>([
  ['insert', (text) => text.insert(5, 'x')],
  ['delete the first half', (text) => text.delete(4, 1)],
  ['delete from the second half on', (text) => text.delete(5, 3)],
  ['format up to the first half', (text) => text.format(0, 5, { bold: true })],
  ['format from the second half on', (text) => text.format(5, 4, { bold: true })],
  ['a delta that formats half', (text) => text.applyDelta([{ retain: 5, attributes: { bold: true } }])],
  ['a delta that inserts between', (text) => text.applyDelta([{ retain: 2 }, { retain: 3 }, { insert: 'x' }])],
  [
    'a delta that deletes half after an insertion',
    (text) => text.applyDelta([{ insert: 'at ' }, { retain: 4 }, { delete: 1 }]),
  ],
])('a guarded text rejects an operation that splits a character, and keeps the text: %s', (_, change) => {
  const text = textWith();
  expect(() => change(text)).toThrow(
    expect.objectContaining({ code: 'document-invalid', fields: { problem: 'text' } }) as Error,
  );
  expect(text.toDelta()).toEqual([{ insert: 'low 👍 tide' }]);
});

it('a guarded text inserts, deletes and formats whole characters, even if it was guarded twice', () => {
  const text = withWholeCharacters(textWith());
  text.insert(6, '!', { bold: true });
  text.format(4, 2, { bold: true });
  text.applyDelta([{ delete: 4 }, { retain: 2, attributes: { bold: null } }, { insert: '?' }]);
  text.delete(0, 2);
  expect(text.toDelta()).toEqual([{ insert: '?' }, { insert: '!', attributes: { bold: true } }, { insert: ' tide' }]);
});
