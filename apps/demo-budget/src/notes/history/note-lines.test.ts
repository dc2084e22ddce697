import fc from 'fast-check';
import type { RichText } from '@rockpool/client';
import { describe, expect, it } from 'vitest';
import { noteLines } from './note-lines.ts';

function shown(newer: RichText, older?: RichText): string[] {
  const marks = { same: '', added: '+', removed: '-', reformatted: '~' } as const;
  return noteLines(newer, older).map(({ pieces }) =>
    pieces.map(({ kind, text }) => (kind === 'same' ? text : `[${marks[kind]}${text}]`)).join(''),
  );
}

describe('the text of a note', () => {
  it('marks what was added, removed and formatted, by character', () => {
    const older = [{ insert: 'We meet on Monday.\nBring bread.\n' }];
    const newer = [
      { insert: 'We meet on Friday.\n' },
      { insert: 'Bring', attributes: { bold: true } },
      { insert: ' bread and wine.\n' },
    ];
    expect(shown(newer, older)).toEqual(['We meet on [+Fri][-Mon]day.', '[~Bring] bread[+ and wine].']);
    expect(shown(newer)).toEqual(['We meet on Friday.', 'Bring bread and wine.']);
    expect(shown(newer, [])[0]).toBe('[+We meet on Friday.]');
  });

  it('has the formats of its lines, and keeps removed line ends in their line', () => {
    const list = [{ insert: 'tent' }, { insert: '\n', attributes: { list: 'bullet' } }, { insert: 'pan\n' }];
    expect(noteLines(list).map(({ formats }) => formats)).toEqual([{ list: 'bullet' }, {}]);
    expect(shown([{ insert: 'tentpan\n' }], [{ insert: 'tent\npan\n' }])).toEqual(['tent[-\n]pan']);
  });

  it('shows all of the newer text, and all of the old text of an emptied note', () => {
    const text = fc
      .array(fc.record({ insert: fc.constantFrom('a', 'b\n', '\n', 'ab', '\u{1f600}'), bold: fc.boolean() }))
      .map((runs) => runs.map(({ insert, bold }) => (bold ? { insert, attributes: { bold: true } } : { insert })));
    const plain = (runs: readonly { readonly insert: string }[]): string => runs.map(({ insert }) => insert).join('');
    const sorted = (characters: string): string => Array.from(characters).toSorted().join('');
    fc.assert(
      fc.property(text, text, (older, newer) => {
        const pieces = noteLines([...newer, { insert: '\n' }], [...older, { insert: '\n' }]).flatMap((line) => [
          ...line.pieces,
          { kind: 'end', text: '\n' },
        ]);
        const after = pieces.filter(({ kind }) => kind !== 'removed').map((piece) => piece.text);
        expect(after.join('')).toBe(`${plain(newer)}\n`);
        const removed = pieces.filter(({ kind }) => kind === 'removed').map((piece) => piece.text);
        expect(removed.join('').length).toBeLessThanOrEqual(plain(older).length);
        // Any of the line ends may be the remaining one.
        if (plain(newer) === '') expect(sorted(removed.join(''))).toBe(sorted(plain(older)));
      }),
      { examples: [[[{ insert: '\n' }, { insert: 'a' }], []]] },
    );
  });
});
