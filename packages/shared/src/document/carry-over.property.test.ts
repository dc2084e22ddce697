import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { json } from '../../testing/json-arbitraries.ts';
import { canonicalJson, type JsonValue } from './json.ts';
import {
  carryOver,
  compactDocument,
  createDocument,
  documentText,
  editDocument,
  mergeForeignEdit,
} from './document.ts';
import { valueAt, withValueAt, type DocumentPath } from './document-path.ts';
import { DEFAULT_DOCUMENT_RULE } from './document-rule.ts';
import type { OverwrittenMember } from './overwritten.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'] };
const [ANN, BEN, SERVER] = ['a'.repeat(32), 'b'.repeat(32), '0'.repeat(32)];

/** Ben edits the document that was compacted into Ann's, and his edit is carried over into her changed document. */
function carry(
  start: JsonValue,
  ann: JsonValue,
  ben: JsonValue,
): { readonly overwritten: readonly OverwrittenMember[]; readonly now: JsonValue } {
  const replaced = createDocument(start, RULE);
  const compacted = compactDocument(replaced, RULE);
  const edited = mergeForeignEdit(
    compacted,
    editDocument(compacted, ann, RULE, { site: ANN, generation: 1 }).edit,
    RULE,
    ANN,
  ).state;
  const late = mergeForeignEdit(
    replaced,
    editDocument(replaced, ben, RULE, { site: BEN, generation: 1 }).edit,
    RULE,
    BEN,
  ).state;
  const { state, overwritten } = carryOver(edited, replaced, late, RULE, { site: SERVER, generation: 7 });
  return { overwritten, now: JSON.parse(documentText(state)) as JsonValue };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('a late edit of a compacted document', () => {
  const AROUND = {
    n: 0,
    in: { n: 0, m: 1 },
    list: [
      { id: 'w', n: 0 },
      { id: 'x', n: 0 },
    ],
  };

  it('replaces a value that others have written since, and reports it with its path and author [MR-29]', () => {
    const scalar = fc.oneof(fc.integer(), fc.string({ unit: 'grapheme-ascii' }), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(
        scalar,
        scalar,
        scalar,
        fc.constantFrom<DocumentPath>(['n'], ['in', 'n'], ['list', { id: 'x' }, 'n'], []),
        (start, ann, ben, path) => {
          const [before, left, right] = [start, ann, ben].map(
            (value) => withValueAt(AROUND, path, value) as JsonValue,
          ) as [JsonValue, JsonValue, JsonValue];
          const { overwritten, now } = carry(before, left, right);
          const isConflict = ann !== ben && ann !== start && ben !== start;
          expect(overwritten.map((member) => plain(member))).toMatchObject(
            isConflict ? [{ path, own: ben, other: ann, ownStands: true, otherIds: [{}] }] : [],
          );
          if (ben !== start) expect(valueAt(now, path)).toBe(ben);
        },
      ),
      { numRuns: atLevel({ test: 100, verify: 300 }) },
    );
  });

  it('reports the removed value if one author removed what another changed [MR-29]', () => {
    const inside = { ...AROUND, in: { n: 5, m: 1 } };
    const { in: _, ...without } = AROUND;
    expect(carry(AROUND, inside, without)).toEqual({
      now: without,
      overwritten: [
        {
          path: ['in'],
          own: undefined,
          other: { n: 5, m: 1 },
          otherIds: [expect.anything(), expect.anything()],
          ownStands: true,
        },
      ],
    });
    expect(carry(AROUND, without, inside)).toEqual({
      now: without,
      overwritten: [{ path: ['in'], own: { n: 5, m: 1 }, other: undefined, otherIds: [], ownStands: false }],
    });
    expect(carry(AROUND, without, without).overwritten).toEqual([]);
  });

  it('reports the path of an element that both authors have moved [MR-29]', () => {
    const [w, x, y, z] = [{ id: 'w' }, { id: 'x' }, { id: 'y' }, { id: 'z' }];
    expect(carry([w, x, y, z], [z, w, x, y], [w, z, x, y]).overwritten).toMatchObject([
      { path: [{ id: 'z' }], own: undefined, other: undefined, otherIds: [{}] },
    ]);
    expect(carry([w, x, y, z], [w, z, x, y], [w, z, x, y]).overwritten).toEqual([]);
  });

  it('keeps both changes of a text, and reports nothing', () => {
    expect(carry({ body: 'low tide' }, { body: 'very low tide' }, { body: 'low tide!' })).toEqual({
      now: { body: 'very low tide!' },
      overwritten: [],
    });
  });

  it('is rejected like any other edit if it would exceed the maximum length of its rule', () => {
    const nearly = 'x'.repeat(RULE.maxLength / 2);
    expect(() => carry({}, { ann: nearly }, { ben: nearly })).toThrow(
      expect.objectContaining({ code: 'document-invalid', fields: expect.objectContaining({ problem: 'size' }) }),
    );
  });

  it('reports nothing if no other author has written to the place since, or all wrote the same value', () => {
    fc.assert(
      fc.property(json, json, (start, ben) => {
        const [first, last] = [{ body: start }, { body: ben }];
        for (const ann of [first, last]) {
          const { now, overwritten } = carry(first, ann, last);
          if (ann === first) expect(canonicalJson(now)).toBe(canonicalJson(last));
          if (ann === first) expect(overwritten).toEqual([]);
        }
      }),
    );
  });
});
