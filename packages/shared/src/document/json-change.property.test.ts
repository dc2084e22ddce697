import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { json } from '../testing/json-arbitraries.ts';
import type { DocumentPath } from './document-path.ts';
import { PathRule } from './document-rule.ts';
import { canonicalJson, type JsonValue } from './json.ts';
import { applyChange, diffJson, invertChange, type JsonChange } from './json-change.ts';

const RULE = PathRule.root({ text: ['body', '*.body', '*'], elementKey: 'id' });

/** Through text, as it is stored. */
function changeFrom(before: JsonValue, after: JsonValue): JsonChange | null {
  return JSON.parse(JSON.stringify(diffJson(before, after, RULE))) as JsonChange | null;
}

describe('a change of JSON', () => {
  it('gives the new value from the old, and turned round the old from the new', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const change = changeFrom(before, after);
        if (change === null) return void expect(canonicalJson(before)).toBe(canonicalJson(after));
        const forth = applyChange(before, change, RULE);
        expect([canonicalJson(forth.value), forth.overwritten]).toEqual([canonicalJson(after), []]);
        const back = applyChange(after, invertChange(change), RULE);
        expect([canonicalJson(back.value), back.overwritten]).toEqual([canonicalJson(before), []]);
      }),
      { numRuns: 500 },
    );
  });

  it('can be made in any other value', () => {
    fc.assert(
      fc.property(json, json, json, (before, after, other) => {
        const change = changeFrom(before, after);
        if (change !== null) expect(() => canonicalJson(applyChange(other, change, RULE).value)).not.toThrow();
      }),
    );
  });

  const made = (before: JsonValue, after: JsonValue, meanwhile: JsonValue): unknown => {
    const { value, overwritten } = applyChange(meanwhile, changeFrom(before, after) as JsonChange, RULE);
    return { value: JSON.parse(canonicalJson(value)) as unknown, overwritten };
  };

  it('keeps what others changed elsewhere', () => {
    expect(made({ a: 1, body: 'low tide' }, { a: 1, body: 'low tide!' }, { a: 2, body: 'very low tide' })).toEqual({ value: { a: 2, body: 'very low tide!' }, overwritten: [] });
    // Also what they typed right before it.
    expect(made({ body: 'OSummer a' }, { body: 'OSummer at' }, { body: 'OuSummer a' })).toEqual({ value: { body: 'OuSummer at' }, overwritten: [] });
    expect(made([{ id: 'x' }, { id: 'y' }], [{ id: 'x' }, { id: 'z' }, { id: 'y' }], [{ id: 'n' }, { id: 'y' }, { id: 'x' }])).toEqual({
      value: [{ id: 'n' }, { id: 'y' }, { id: 'x' }, { id: 'z' }],
      overwritten: [],
    });
    expect(made([1, 2, 3], [1, 3], [0, 1, 2, 3])).toEqual({ value: [0, 1, 3], overwritten: [] });
  });

  it('tells the places where others had changed the same', () => {
    const at = (...path: DocumentPath) => ({ path, isMove: false });
    expect(made({ a: 1 }, { a: 2 }, { a: 3 })).toEqual({ value: { a: 2 }, overwritten: [at('a')] });
    expect(made({ a: 1 }, {}, { a: 3 })).toEqual({ value: {}, overwritten: [at('a')] });
    expect(made({ a: { b: 1 } }, { a: { b: 2 } }, {})).toEqual({ value: {}, overwritten: [at('a')] });
    expect(made({ a: { b: 1 } }, { a: { b: 2 } }, { a: [] })).toEqual({ value: { a: [] }, overwritten: [at('a')] });
    expect(made({ l: [{ id: 1, n: 1 }] }, { l: [{ id: 1, n: 2 }] }, { l: [{ id: 1, n: 3 }] })).toEqual({ value: { l: [{ id: 1, n: 2 }] }, overwritten: [at('l', { id: 1 }, 'n')] });
    expect(made({ l: [{ id: '1' }] }, { l: [] }, { l: [{ id: '1', n: 3 }] })).toEqual({ value: { l: [] }, overwritten: [at('l', { id: '1' })] });
    expect(made({ l: [[1], 2] }, { l: [2] }, { l: [[1, 5], 2] })).toEqual({ value: { l: [[1, 5], 2] }, overwritten: [at('l')] });
    const [w, x, y, z] = [{ id: 'w' }, { id: 'x' }, { id: 'y' }, { id: 'z' }];
    expect(made([w, x, y, z], [w, z, x, y], [z, w, x, y])).toEqual({ value: [w, z, x, y], overwritten: [{ path: [{ id: 'z' }], isMove: true }] });
    expect(made([w, x, y, z], [w, z, x, y], [w, z, x, y])).toEqual({ value: [w, z, x, y], overwritten: [] });
    expect(made([w, x, y, z], [z, w, x, y], [w, y, x, z])).toEqual({ value: [z, w, y, x], overwritten: [] });
  });

  it('weighs what the difference weighs', () => {
    const long = { body: 'x'.repeat(100_000), list: Array.from({ length: 1000 }, (_, id) => ({ id, n: 0 })) };
    const after = { ...long, body: `${long.body.slice(0, 50_000)}!${long.body.slice(50_000)}`, list: long.list.map((element) => (element.id === 500 ? { id: 500, n: 1 } : element)) };
    expect(JSON.stringify(diffJson(long, after, RULE)).length).toBeLessThan(150);
  });
});
