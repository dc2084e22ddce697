import fc from 'fast-check';
import { expect } from 'vitest';
import * as Y from 'yjs';
import type { RockpoolError } from '../src/errors/rockpool-error.ts';
import {
  createDocument,
  documentText,
  editDocument,
  mergeEdit,
  mergeForeignEdit,
  readContent,
} from '../src/document/document.ts';
import { decodeDocumentCell, encodeDocumentCell } from '../src/document/document-cell.ts';
import { DEFAULT_DOCUMENT_RULE } from '../src/document/document-rule.ts';
import { canonicalJson, parseJson, type JsonObject, type JsonValue } from '../src/document/json.ts';
import { documentStateHash } from './document-state-hash.ts';
import { madeWithYjs } from './hostile-edits.ts';
import { json } from './json-arbitraries.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'], richText: ['note'] };
const SITE = '5'.repeat(32);
const BEFORE = parseJson(
  '{"body":"low tide","items":[{"id":"x","n":1}],"note":[{"insert":"spring tide"}]}',
  RULE,
) as JsonObject;
const OTHER = parseJson(
  '{"body":"high tide, soon","items":[{"id":"y","n":[1,2.5,null,true,"x"]},{"id":"x","n":2}],"more":{"a":{"b":[]}},"note":[{"insert":"spr"},{"attributes":{"bold":true,"header":2},"insert":"ing ti"},{"attributes":{"link":"https://a.test"},"insert":"des"}]}',
  RULE,
) as JsonObject;

function textIn(root: Y.Map<unknown>, name: 'body' | 'note'): Y.Text {
  return root.get(name) as Y.Text;
}

interface Edited {
  readonly content: JsonValue;
  readonly start: Uint8Array;
  readonly documentId: Uint8Array;
  /**
   * An honest edit with all kinds of values, and some edits of texts alone: formats, and embedded content, which is
   * allowed nowhere.
   */
  readonly edits: readonly Uint8Array[];
}

function edited(rest: JsonObject): Edited {
  const content = { ...BEFORE, ...rest };
  const start = createDocument(content, RULE);
  const { documentId, update: startUpdate } = decodeDocumentCell(start) as {
    documentId: Uint8Array;
    update: Uint8Array;
  };
  const withYjs = (change: (root: Y.Map<unknown>) => void): Uint8Array =>
    madeWithYjs({ update: startUpdate, site: SITE }, change);
  const edits = [
    (
      decodeDocumentCell(editDocument(start, { ...OTHER, ...rest }, RULE, { site: SITE, generation: 1 }).edit) as {
        update: Uint8Array;
      }
    ).update,
    withYjs((root) => {
      root.set(
        'log',
        new Y.Map<unknown>([
          ['keeper', 'the keeper who is awake at four'],
          ['waves', 12],
        ]),
      );
      textIn(root, 'body').insert(0, 'and a very, very ');
    }),
    withYjs((root) =>
      textIn(root, 'note').applyDelta([
        { insert: 'a 👍 ', attributes: { bold: true } },
        { retain: 6, attributes: { header: 2 } },
        { delete: 2 },
      ]),
    ),
    withYjs((root) => {
      textIn(root, 'note').insertEmbed(3, { image: 'x' }, { bold: true });
      textIn(root, 'body').insert(2, 'x');
    }),
    withYjs((root) => {
      textIn(root, 'body').insertEmbed(3, new Y.Map([['a', 'b']]));
      textIn(root, 'body').insertEmbed(1, new Y.Text('inner'));
      textIn(root, 'note').insertEmbed(1, new Y.Array());
    }),
    withYjs((root) => textIn(root, 'body').format(1, 3, { bold: true })),
  ];
  return { content, start, documentId, edits };
}

const SMALL = edited({});
/** Large enough to stay open between edits, so that a later edit would show the applied part of a rejected one. */
const LARGE = edited({ rest: 'The tide comes in. '.repeat(300) });

type Damage = (edit: Uint8Array) => Uint8Array;

const ofBytes: fc.Arbitrary<Damage> = fc
  .array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 })
  .map((bytes) => (edit) => {
    const damaged = edit.slice();
    for (const [at, byte] of bytes) damaged[at % damaged.length] = byte;
    return damaged;
  });
/** Flips one bit. This usually breaks a single thing, so these edits pass more checks than other damaged edits. */
const ofOneBit: fc.Arbitrary<Damage> = fc.tuple(fc.nat(), fc.nat({ max: 7 })).map(
  ([at, bit]) =>
    (edit) =>
      edit.with(at % edit.length, (edit[at % edit.length] as number) ^ (1 << bit)),
);
const ofLength: fc.Arbitrary<Damage> = fc.nat().map((length) => (edit) => edit.slice(0, length % (edit.length + 1)));
/** Replaces a piece of the edit with a piece of another one. */
const ofPieces: fc.Arbitrary<Damage> = fc
  .tuple(fc.constantFrom(...SMALL.edits), fc.nat(), fc.nat({ max: 20 }), fc.nat(), fc.nat({ max: 20 }))
  .map(([other, from, taken, at, gone]) => (edit) => {
    const [start, source] = [at % edit.length, from % other.length];
    return Uint8Array.from([
      ...edit.subarray(0, start),
      ...other.subarray(source, source + taken),
      ...edit.subarray(start + gone),
    ]);
  });

/**
 * Damages edits in `runs` ways. Each damaged edit is rejected and leaves the document unchanged, or produces JSON that
 * every replica with the rule reads in the same way, including those that trust the server. Later edits are merged as
 * if nothing had happened. Returns the number of rejected and of accepted edits.
 */
export function checkDamagedEdits(runs: number): { readonly refused: number; readonly taken: number } {
  let refused = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(SMALL, LARGE),
      fc.nat(),
      fc.oneof(ofBytes, ofOneBit, ofLength, ofPieces),
      json,
      ({ content, start, documentId, edits }, which, damage, next) => {
        const edit = encodeDocumentCell({
          kind: 'edit',
          documentId,
          generation: 1,
          update: damage(edits[which % edits.length] as Uint8Array),
        });
        let state: Uint8Array = start;
        try {
          state = mergeForeignEdit(start, edit, RULE, SITE).state;
        } catch (error) {
          expect((error as RockpoolError).code).toMatch(/^document-/);
          refused++;
        }
        if (state !== start) expect(documentStateHash(mergeEdit(start, edit))).toBe(documentStateHash(state));
        expect(documentText(start)).toBe(canonicalJson(content));
        expect(canonicalJson(readContent(documentText(state), RULE))).toBe(documentText(state));
        const followed = editDocument(state, next, RULE, { site: SITE, generation: 2 });
        expect(documentText(mergeForeignEdit(state, followed.edit, RULE, SITE).state)).toBe(canonicalJson(next));
      },
    ),
    { numRuns: runs },
  );
  return { refused, taken: runs - refused };
}
