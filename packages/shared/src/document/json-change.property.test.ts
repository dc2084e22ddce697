import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { json } from '../testing/json-arbitraries.ts';
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
        expect([canonicalJson(forth.value), forth.overwritten]).toEqual([canonicalJson(after), 0]);
        const back = applyChange(after, invertChange(change), RULE);
        expect([canonicalJson(back.value), back.overwritten]).toEqual([canonicalJson(before), 0]);
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
    expect(made({ a: 1, body: 'low tide' }, { a: 1, body: 'low tide!' }, { a: 2, body: 'very low tide' })).toEqual({ value: { a: 2, body: 'very low tide!' }, overwritten: 0 });
    // Also what they typed right before it.
    expect(made({ body: 'OSummer a' }, { body: 'OSummer at' }, { body: 'OuSummer a' })).toEqual({ value: { body: 'OuSummer at' }, overwritten: 0 });
    expect(made([{ id: 'x' }, { id: 'y' }], [{ id: 'x' }, { id: 'z' }, { id: 'y' }], [{ id: 'n' }, { id: 'y' }, { id: 'x' }])).toEqual({
      value: [{ id: 'n' }, { id: 'y' }, { id: 'x' }, { id: 'z' }],
      overwritten: 0,
    });
    expect(made([1, 2, 3], [1, 3], [0, 1, 2, 3])).toEqual({ value: [0, 1, 3], overwritten: 0 });
  });

  it('counts the places where others had changed the same', () => {
    expect(made({ a: 1 }, { a: 2 }, { a: 3 })).toEqual({ value: { a: 2 }, overwritten: 1 });
    expect(made({ a: 1 }, {}, { a: 3 })).toEqual({ value: {}, overwritten: 1 });
  });

  it('weighs what the difference weighs', () => {
    const long = { body: 'x'.repeat(100_000), list: Array.from({ length: 1000 }, (_, id) => ({ id, n: 0 })) };
    const after = { ...long, body: `${long.body.slice(0, 50_000)}!${long.body.slice(50_000)}`, list: long.list.map((element) => (element.id === 500 ? { id: 500, n: 1 } : element)) };
    expect(JSON.stringify(diffJson(long, after, RULE)).length).toBeLessThan(150);
  });
});
