import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { createDocument, documentText, editDocument, mergeForeignEdit } from './document.ts';
import { DEFAULT_DOCUMENT_RULE } from './document-rule.ts';
import { withValueAt, type DocumentPath } from './document-path.ts';
import type { JsonValue } from './json.ts';
import type { OverwrittenMember } from './overwritten.ts';

const RULE = DEFAULT_DOCUMENT_RULE;
const [ANN, BEN] = ['a'.repeat(32), 'b'.repeat(32)];

/** Lets both edit concurrently. Returns the server's report about the second edit, and the final content. */
function meet(
  start: JsonValue,
  ann: JsonValue,
  ben: JsonValue,
): { readonly overwritten: readonly OverwrittenMember[]; readonly now: JsonValue } {
  const state = createDocument(start, RULE);
  const first = mergeForeignEdit(state, editDocument(state, ann, RULE, { site: ANN, generation: 1 }).edit, RULE, ANN);
  expect(first.overwritten).toEqual([]);
  const second = mergeForeignEdit(
    first.state,
    editDocument(state, ben, RULE, { site: BEN, generation: 1 }).edit,
    RULE,
    BEN,
  );
  return { overwritten: second.overwritten, now: JSON.parse(documentText(second.state)) as JsonValue };
}

function valueAt(value: JsonValue, path: DocumentPath): unknown {
  return path.reduce<unknown>((at, step) => {
    if (typeof step !== 'object') return (at as Record<string, unknown>)[step];
    const [[key, id] = ['', '']] = Object.entries(step);
    return (at as Record<string, unknown>[]).find((element) => element[key] === id);
  }, value);
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('concurrent changes of one document', () => {
  it('leave one value if they write to the same place, and report the other with its path [MR-23]', () => {
    const scalar = fc.oneof(fc.integer(), fc.string({ unit: 'grapheme-ascii' }), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(
        scalar,
        scalar,
        scalar,
        fc.constantFrom<DocumentPath>(['n'], ['in', 'n'], ['list', { id: 'x' }, 'n'], []),
        (start, ann, ben, path) => {
          const around = {
            n: 0,
            in: { n: 0, m: 1 },
            list: [
              { id: 'w', n: 0 },
              { id: 'x', n: 0 },
            ],
          };
          const [before, left, right] = [start, ann, ben].map(
            (value) => withValueAt(around, path, value) as JsonValue,
          ) as [JsonValue, JsonValue, JsonValue];
          const { overwritten, now } = meet(before, left, right);
          const isConflict = ann !== ben && ann !== start && ben !== start;
          expect(overwritten.map((member) => plain(member))).toMatchObject(
            isConflict ? [{ path, own: ben, other: ann }] : [],
          );
          if (isConflict) expect(valueAt(now, path)).toBe(overwritten[0]?.ownStands === true ? ben : ann);
        },
      ),
      { numRuns: atLevel({ test: 120, verify: 300 }) },
    );
  });

  it('overwrite nothing if they write to different places', () => {
    expect(
      meet(
        { a: 1, list: [{ id: 1, n: 0 }], tags: ['x'] },
        { a: 2, list: [{ id: 1, n: 0 }], tags: ['x', 'y'] },
        { a: 1, b: 2, list: [{ id: 1, n: 5 }, { id: 2 }], tags: ['z', 'x'] },
      ).overwritten,
    ).toEqual([]);
  });

  it('report the whole lost object if both replace one member [MR-23]', () => {
    const { overwritten, now } = meet(
      {},
      { by: { name: 'ann', tags: [1, { id: 2 }], rows: [{ id: 'b' }, { id: 'a', n: 1 }] } },
      { by: { name: 'ben' } },
    );
    expect(overwritten.map((member) => plain(member))).toMatchObject([
      {
        path: ['by'],
        own: { name: 'ben' },
        other: { name: 'ann', tags: [1, { id: 2 }], rows: [{ id: 'b' }, { id: 'a', n: 1 }] },
      },
    ]);
    expect(overwritten[0]?.ownStands === true ? { name: 'ben' } : overwritten[0]?.other).toEqual(
      (now as { by: JsonValue }).by,
    );
  });

  it('are reported if another author removes or replaces their place: with the removed value, or as lost if the removal came first [MR-24] [MR-25]', () => {
    const n = fc.integer({ min: 1 });
    const at = fc.constantFrom<{ path: DocumentPath; removed: DocumentPath; without: JsonValue }>(
      { path: ['in', 'n'], removed: ['in'], without: { list: [{ id: 'x', n: 0 }], rows: [[0], ['b']] } },
      {
        path: ['in', 'deep', 'n'],
        removed: ['in'],
        without: { in: 'ben', list: [{ id: 'x', n: 0 }], rows: [[0], ['b']] },
      },
      {
        path: ['list', { id: 'x' }, 'n'],
        removed: ['list', { id: 'x' }],
        without: { in: { n: 0, deep: { n: 0 } }, list: [], rows: [[0], ['b']] },
      },
      {
        path: ['rows', 0, 0],
        removed: ['rows'],
        without: { in: { n: 0, deep: { n: 0 } }, list: [{ id: 'x', n: 0 }], rows: [['b']] },
      },
    );
    fc.assert(
      fc.property(n, at, (value, { path, removed, without }) => {
        const start = { in: { n: 0, deep: { n: 0 } }, list: [{ id: 'x', n: 0 }], rows: [[0], ['b']] };
        const changed = withValueAt(start, path, value) as JsonValue;
        const removedLater = meet(start, changed, without);
        expect(plain(removedLater.now)).toEqual(without);
        expect(removedLater.overwritten.map((member) => plain(member))).toMatchObject([
          { path: removed, other: plain(valueAt(changed, removed)), ownStands: true },
        ]);
        const removedBefore = meet(start, without, changed);
        expect(plain(removedBefore.now)).toEqual(without);
        expect(removedBefore.overwritten).toEqual([
          { path: [], own: undefined, other: undefined, otherIds: [], ownStands: false },
        ]);
        expect(meet(start, without, without).overwritten).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('are reported once for a list, however many of its elements without a name are removed', () => {
    const rows = Array.from({ length: 20 }, (_, n) => [n]);
    const changed = rows.map(([n]) => [n as number, 'ann']);
    const { overwritten } = meet({ rows }, { rows: changed }, { rows: [] });
    expect(overwritten.map((member) => plain(member))).toMatchObject([
      { path: ['rows'], own: [], other: changed, ownStands: true },
    ]);
  });

  it('report the path of an element that both move [MR-26]', () => {
    const [x, y, z] = [{ id: 'x' }, { id: 'y' }, { id: 'z' }];
    expect(meet([x, y, z], [z, x, y], [x, z, y]).overwritten).toMatchObject([
      { path: [{ id: 'z' }], own: undefined, other: undefined },
    ]);
    expect(meet([x, y, z], [z, x, y], [z, x, y]).overwritten).toEqual([]);
    expect(meet([x, y, z], [y, x, z], [x, z, y]).overwritten).toEqual([]);
  });

  it('overwrite nothing if each author had seen the change before', () => {
    const state = createDocument({ n: 0 }, RULE);
    const ann = editDocument(state, { n: 1 }, RULE, { site: ANN, generation: 1 });
    const server = mergeForeignEdit(state, ann.edit, RULE, ANN).state;
    const ben = editDocument(server, { n: 2 }, RULE, { site: BEN, generation: 1 });
    const again = editDocument(ben.state, { n: 3 }, RULE, { site: BEN, generation: 1 });
    const next = mergeForeignEdit(server, ben.edit, RULE, BEN);
    expect([next.overwritten, mergeForeignEdit(next.state, again.edit, RULE, BEN).overwritten]).toEqual([[], []]);
  });
});
