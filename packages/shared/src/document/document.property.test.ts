import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentStateHash } from '../../testing/document-state-hash.ts';
import { json, RICH_PATHS, richJson } from '../../testing/json-arbitraries.ts';
import { plainYjs } from '../../testing/plain-yjs.ts';
import { createDocument, documentText, editDocument, mergeDelivered, mergeEdit, mergeForeignEdit } from './document.ts';
import { decodeDocumentCell, encodeDocumentCell, type DocumentCell } from './document-cell.ts';
import { DEFAULT_DOCUMENT_RULE, type DocumentRule } from './document-rule.ts';
import { canonicalJson, type JsonValue } from './json.ts';

const PLAIN: DocumentRule = { ...DEFAULT_DOCUMENT_RULE, text: ['body', '*.body', '*'] };
const RICH: DocumentRule = { ...DEFAULT_DOCUMENT_RULE, text: ['title'], richText: RICH_PATHS };
const SITES = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(32));

describe.each([
  { what: 'a document', json, RULE: PLAIN },
  { what: 'a document with rich texts', json: richJson, RULE: RICH },
])('$what', ({ json, RULE }) => {
  it('is the same on every replica that creates it from the same content', () => {
    fc.assert(
      fc.property(json, (content) => {
        const state = createDocument(content, RULE);
        expect(createDocument(content, RULE)).toEqual(state);
        expect(documentText(state)).toBe(canonicalJson(content));
      }),
    );
  });

  it('merges an edit identically at its author, at other sites and at a server that trusts neither', () => {
    fc.assert(
      fc.property(json, fc.array(json, { minLength: 1, maxLength: 5 }), (content, contents) => {
        let mine = createDocument(content, RULE);
        let theirs: ReturnType<typeof mergeEdit> = mine;
        let server: ReturnType<typeof mergeEdit> = mine;
        for (const next of contents) {
          const edited = editDocument(mine, next, RULE, { site: SITES[0] as string, generation: 1 });
          mine = edited.state;
          theirs = mergeEdit(theirs, edited.edit);
          server = mergeForeignEdit(server, edited.edit, RULE, SITES[0] as string).state;
          expect([documentText(mine), documentText(theirs), documentText(server)]).toEqual(
            new Array(3).fill(canonicalJson(next)),
          );
        }
      }),
    );
  });

  it('is the same on every replica, in any order of arrival, and the same as in a plain Y.Doc', () => {
    const script = fc.array(fc.tuple(fc.nat({ max: SITES.length - 1 }), json, fc.boolean()), {
      minLength: 2,
      maxLength: 12,
    });
    fc.assert(
      fc.property(json, script, fc.infiniteStream(fc.nat()), (content, steps, choices) => {
        const start = createDocument(content, RULE);
        const states = SITES.map((): Uint8Array => start);
        const unsent: Uint8Array[][] = SITES.map(() => []);
        let server: Uint8Array = start;
        const made: Uint8Array[] = [];
        const exchange = (index: number): void => {
          for (const edit of unsent[index]?.splice(0) ?? [])
            server = mergeForeignEdit(server, edit, RULE, SITES[index] as string).state;
          states[index] = server;
        };
        for (const [index, next, meets] of steps) {
          const edited = editDocument(states[index] as Uint8Array, next, RULE, {
            site: SITES[index] as string,
            generation: 1,
          });
          states[index] = edited.state;
          unsent[index]?.push(edited.edit);
          made.push(edited.edit);
          if (meets) exchange(index);
        }
        const order = SITES.map((_, index) => index).sort(() => ((choices.next().value as number) % 2) - 0.5);
        for (const index of [...order, ...order]) exchange(index);
        expect(new Set([server, ...states].map((state) => documentText(state))).size).toBe(1);
        expect(new Set([server, ...states, plainYjs(start, made.toReversed())].map(documentStateHash)).size).toBe(1);
      }),
    );
  });
});

describe('a document', () => {
  it('grows with its content, not with its history', () => {
    let state: Uint8Array = createDocument({ n: 0 }, PLAIN);
    for (let n = 1; n <= 2000; n++)
      state = editDocument(state, { n }, PLAIN, { site: SITES[0] as string, generation: 1 }).state;
    expect(state.length).toBeLessThan(150);
  });

  it('grows by an edit in proportion to the size of the edit', () => {
    const content = { items: Array.from({ length: 5000 }, (_, id) => ({ id, body: `text number ${id}` })) };
    const changed: JsonValue = {
      items: content.items.map((item) => (item.id === 2500 ? { ...item, body: 'text, number 2500' } : item)),
    };
    const edited = editDocument(
      createDocument(content, PLAIN),
      changed,
      { ...PLAIN, text: ['items.*.body'] },
      { site: SITES[0] as string, generation: 1 },
    );
    expect(edited.edit.length).toBeLessThan(100);
  });
});

it('a delivered update of another document is an error, because its edits would be lost', () => {
  const start = createDocument({ n: 1 }, PLAIN);
  const { edit } = editDocument(start, { n: 2 }, PLAIN, { site: SITES[0] as string, generation: 1 });
  const { documentId, update } = decodeDocumentCell(edit) as Extract<DocumentCell, { kind: 'edit' }>;
  const delivered = encodeDocumentCell({ kind: 'update', documentId, updates: [update] });
  expect(documentText(mergeDelivered(start, delivered))).toBe('{"n":2}');
  for (const other of [createDocument({ n: 3 }, PLAIN), null])
    expect(() => mergeDelivered(other, delivered)).toThrow(
      expect.objectContaining({ code: 'document-invalid' }) as Error,
    );
});
