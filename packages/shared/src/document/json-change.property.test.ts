import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { json, RICH_PATHS, richJson } from '../../testing/json-arbitraries.ts';
import type { DocumentPath } from './document-path.ts';
import { MAX_DOCUMENT_DEPTH, PathRule } from './document-rule.ts';
import { canonicalJson, checkJson, type JsonObject, type JsonValue } from './json.ts';
import { applyChange, diffJson, invertChange, type JsonChange } from './json-change.ts';

const RULE = PathRule.root({ text: ['body', '*.body', '*'], elementKey: 'id' });
const RICH = PathRule.root({ text: ['title'], richText: RICH_PATHS, elementKey: 'id' });

/** The change, converted to text and back, as it is stored. */
function changeFrom(before: JsonValue, after: JsonValue, rule: PathRule): JsonChange | null {
  return JSON.parse(JSON.stringify(diffJson(before, after, rule))) as JsonChange | null;
}

describe.each([
  { what: 'a change of JSON', json, RULE },
  { what: 'a change of JSON with rich texts', json: richJson, RULE: RICH },
])('$what', ({ json, RULE }) => {
  it('turns the old value into the new one; inverted, it turns the new value into the old one', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const change = changeFrom(before, after, RULE);
        if (change === null) return void expect(canonicalJson(before)).toBe(canonicalJson(after));
        const forth = applyChange(before, change, RULE);
        expect([canonicalJson(forth.value), forth.overwritten]).toEqual([canonicalJson(after), []]);
        const back = applyChange(after, invertChange(change), RULE);
        expect([canonicalJson(back.value), back.overwritten]).toEqual([canonicalJson(before), []]);
      }),
      { numRuns: atLevel({ test: 200, verify: 500 }) },
    );
  });

  it('can be applied to any other value, and splits no character', () => {
    fc.assert(
      fc.property(json, json, json, (before, after, other) => {
        const change = changeFrom(before, after, RULE);
        if (change === null) return;
        expect(() => checkJson(applyChange(other, change, RULE).value, MAX_DOCUMENT_DEPTH)).not.toThrow();
      }),
    );
  });
});

describe('a change of JSON', () => {
  const made = (before: JsonValue, after: JsonValue, meanwhile: JsonValue, rule = RULE): unknown => {
    const { value, overwritten } = applyChange(meanwhile, changeFrom(before, after, rule) as JsonChange, rule);
    return { value: JSON.parse(canonicalJson(value)) as unknown, overwritten };
  };

  it('keeps concurrent changes in other places', () => {
    expect(made({ a: 1, body: 'low tide' }, { a: 1, body: 'low tide!' }, { a: 2, body: 'very low tide' })).toEqual({
      value: { a: 2, body: 'very low tide!' },
      overwritten: [],
    });
    // Others may also type right before the change.
    expect(made({ body: 'OSummer a' }, { body: 'OSummer at' }, { body: 'OuSummer a' })).toEqual({
      value: { body: 'OuSummer at' },
      overwritten: [],
    });
    expect(
      made(
        [{ id: 'x' }, { id: 'y' }],
        [{ id: 'x' }, { id: 'z' }, { id: 'y' }],
        [{ id: 'n' }, { id: 'y' }, { id: 'x' }],
      ),
    ).toEqual({
      value: [{ id: 'n' }, { id: 'y' }, { id: 'x' }, { id: 'z' }],
      overwritten: [],
    });
    expect(made([1, 2, 3], [1, 3], [0, 1, 2, 3])).toEqual({ value: [0, 1, 3], overwritten: [] });
    // Others have replaced all of the text, and its old offset is within a character.
    expect(made({ body: 'a' }, { body: 'ax' }, { body: '😀' })).toEqual({ value: { body: 'x😀' }, overwritten: [] });
  });

  it('keeps the text and formats of others around and inside a rich text', () => {
    const bold = { bold: true };
    const rule = PathRule.root({ text: [], richText: [''], elementKey: 'id' });
    const text = (...runs: (string | readonly [string, JsonObject])[]): JsonValue =>
      runs.map((run) => (typeof run === 'string' ? { insert: run } : { attributes: run[1], insert: run[0] }));
    const start = text('the tide is out');
    const formatted = text('the ', ['tide', bold], ' is out');
    expect(made(start, formatted, text('now the tide is out'), rule)).toEqual({
      value: text('now the ', ['tide', bold], ' is out'),
      overwritten: [],
    });
    expect(made(start, formatted, text('the tixde is out'), rule)).toEqual({
      value: text('the ', ['tixde', bold], ' is out'),
      overwritten: [],
    });
    expect(made(start, formatted, text(['the tide', { italic: true }], ' is out'), rule)).toEqual({
      value: text(['the ', { italic: true }], ['tide', { bold: true, italic: true }], ' is out'),
      overwritten: [],
    });
    expect(made(start, text('the low tide is out'), formatted, rule)).toEqual({
      value: text('the low ', ['tide', bold], ' is out'),
      overwritten: [],
    });
    // Two authors give one word different values of one format: the later value wins.
    const coloured = (color: string): JsonValue => text('the ', ['tide', { color }], ' is out');
    expect(made(start, coloured('red'), coloured('blue'), rule)).toEqual({ value: coloured('red'), overwritten: [] });
  });

  it('reports the places that others have also changed', () => {
    const at = (...path: DocumentPath) => ({ path, isMove: false });
    expect(made({ a: 1 }, { a: 2 }, { a: 3 })).toEqual({ value: { a: 2 }, overwritten: [at('a')] });
    expect(made({ a: 1 }, {}, { a: 3 })).toEqual({ value: {}, overwritten: [at('a')] });
    expect(made({ a: { b: 1 } }, { a: { b: 2 } }, {})).toEqual({ value: {}, overwritten: [at('a')] });
    expect(made({ a: { b: 1 } }, { a: { b: 2 } }, { a: [] })).toEqual({ value: { a: [] }, overwritten: [at('a')] });
    expect(made({ l: [{ id: 1, n: 1 }] }, { l: [{ id: 1, n: 2 }] }, { l: [{ id: 1, n: 3 }] })).toEqual({
      value: { l: [{ id: 1, n: 2 }] },
      overwritten: [at('l', { id: 1 }, 'n')],
    });
    expect(made({ l: [{ id: '1' }] }, { l: [] }, { l: [{ id: '1', n: 3 }] })).toEqual({
      value: { l: [] },
      overwritten: [at('l', { id: '1' })],
    });
    expect(made({ l: [[1], 2] }, { l: [2] }, { l: [[1, 5], 2] })).toEqual({
      value: { l: [[1, 5], 2] },
      overwritten: [at('l')],
    });
    const [w, x, y, z] = [{ id: 'w' }, { id: 'x' }, { id: 'y' }, { id: 'z' }];
    expect(made([w, x, y, z], [w, z, x, y], [z, w, x, y])).toEqual({
      value: [w, z, x, y],
      overwritten: [{ path: [{ id: 'z' }], isMove: true }],
    });
    expect(made([w, x, y, z], [w, z, x, y], [w, z, x, y])).toEqual({ value: [w, z, x, y], overwritten: [] });
    expect(made([w, x, y, z], [z, w, x, y], [w, y, x, z])).toEqual({ value: [z, w, y, x], overwritten: [] });
  });

  it('has a size in proportion to the difference', () => {
    const long = { body: 'x'.repeat(100_000), list: Array.from({ length: 1000 }, (_, id) => ({ id, n: 0 })) };
    const after = {
      ...long,
      body: `${long.body.slice(0, 50_000)}!${long.body.slice(50_000)}`,
      list: long.list.map((element) => (element.id === 500 ? { id: 500, n: 1 } : element)),
    };
    expect(JSON.stringify(diffJson(long, after, RULE)).length).toBeLessThan(150);
  });
});
