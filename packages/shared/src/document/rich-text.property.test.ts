import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type * as Y from 'yjs';
import { atLevel } from '../../../../tests/kit/level.ts';
import { RICH_PATHS, richJson, richText } from '../../testing/json-arbitraries.ts';
import { mergeForeignEdit, createDocument, documentText, editDocument, readContent } from './document.ts';
import { emptyDocument } from './empty-document.ts';
import { DEFAULT_DOCUMENT_RULE, PathRule } from './document-rule.ts';
import { canonicalJson, type JsonValue } from './json.ts';
import { canonicalRichTexts, plainText, toRuns, type Run } from './rich-text.ts';
import { createRichText, readRichText, writeRichText } from './rich-text-node.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['title'], richText: RICH_PATHS };
const BODY = PathRule.root({ text: [], richText: [''], elementKey: 'id' });

function textOf(runs: readonly Run[]): Y.Text {
  const text = createRichText(runs);
  emptyDocument().getMap('json').set('value', text);
  return text;
}

describe('a rich text', () => {
  it('has one canonical form, wherever it is cut and with null formats', () => {
    fc.assert(
      fc.property(richText, fc.infiniteStream(fc.nat({ max: 3 })), (value, cuts) => {
        const pieces = (value as unknown as readonly Run[]).flatMap(({ insert, attributes }) =>
          Array.from(insert).flatMap((character) => [
            { insert: character, attributes: { ...attributes, none: null } },
            ...((cuts.next().value as number) === 0 ? [{ insert: '' }] : []),
          ]),
        );
        expect(canonicalJson(canonicalRichTexts(pieces, BODY))).toBe(canonicalJson(value));
        expect(canonicalRichTexts(value, BODY)).toBe(value);
      }),
    );
  });

  it.each([
    ['a string', 'low tide'],
    ['an object', {}],
    ['a run that is no object', ['low tide']],
    ['a run without characters', [{ attributes: { bold: true } }]],
    ['what is no text', [{ insert: { image: 'x' } }]],
    ['a member that no run has', [{ insert: 'x', retain: 1 }]],
    ['formats that are no object', [{ insert: 'x', attributes: [] }]],
    ['a format that is an object', [{ insert: 'x', attributes: { bold: {} } }]],
    ['a format that is too long', [{ insert: 'x', attributes: { link: 'x'.repeat(2049) } }]],
    ['a format without a name', [{ insert: 'x', attributes: { '': true } }]],
  ])('is not %s', (_, value) => {
    expect(() => readContent(JSON.stringify({ body: value }), RULE)).toThrow(
      expect.objectContaining({ code: 'document-invalid', fields: { problem: 'rich-text' } }),
    );
  });

  it('may be null, and may be anywhere that the rule names', () => {
    fc.assert(
      fc.property(richJson, (value) => {
        expect(canonicalJson(readContent(JSON.stringify(value), RULE))).toBe(canonicalJson(value));
      }),
    );
    expect(readContent('{"body":null}', RULE)).toEqual({ body: null });
  });

  it('is written into a Y.Text with operations only for the differences', () => {
    fc.assert(
      fc.property(richText, richText, (before, after) => {
        const text = textOf(toRuns(before));
        writeRichText(text, toRuns(after));
        expect(readRichText(text)).toEqual(toRuns(after));
        expect(
          text
            .toDelta()
            .map(({ insert }: { readonly insert: string }) => insert)
            .join(''),
        ).toBe(plainText(toRuns(after)));
      }),
      { numRuns: atLevel({ test: 200, verify: 500 }) },
    );
    const long = toRuns([{ insert: 'x'.repeat(10_000) }]);
    const text = textOf(long);
    let weight = 0;
    text.doc?.on('update', (update: Uint8Array) => (weight += update.length));
    writeRichText(
      text,
      toRuns([
        { insert: 'x'.repeat(5000) },
        { insert: 'x'.repeat(1000), attributes: { bold: true } },
        { insert: 'x'.repeat(4000) },
      ]),
    );
    expect(weight).toBeLessThan(100);
  });

  it('has the text and formats of both authors after concurrent edits, in either order', () => {
    const rule = { ...DEFAULT_DOCUMENT_RULE, text: [], richText: [''] };
    const sites = ['a'.repeat(32), 'b'.repeat(32)] as const;
    const start: JsonValue = [{ insert: 'the tide is out' }];
    const state = createDocument(start, rule);
    const formatted = editDocument(
      state,
      [{ insert: 'the ' }, { attributes: { bold: true }, insert: 'tide' }, { insert: ' is out' }],
      rule,
      { site: sites[0], generation: 1 },
    ).edit;
    const typed = editDocument(state, [{ insert: 'now the tixde is out' }], rule, {
      site: sites[1],
      generation: 1,
    }).edit;
    const merged = (...edits: readonly (readonly [Uint8Array, string])[]): string =>
      documentText(
        edits.reduce<Uint8Array>((before, [edit, site]) => mergeForeignEdit(before, edit, rule, site).state, state),
      );
    const expected = '[{"insert":"now the "},{"attributes":{"bold":true},"insert":"tixde"},{"insert":" is out"}]';
    expect([
      merged([formatted, sites[0]], [typed, sites[1]]),
      merged([typed, sites[1]], [formatted, sites[0]]),
    ]).toEqual([expected, expected]);
  });
});
