import fc from 'fast-check';
import { expect } from 'vitest';
import type { RockpoolError } from '../errors/rockpool-error.ts';
import { createDocument, documentText, editDocument, mergeForeignEdit } from '../document/document.ts';
import { decodeDocumentCell, encodeDocumentCell } from '../document/document-cell.ts';
import { DEFAULT_DOCUMENT_RULE } from '../document/document-rule.ts';
import { parseJson } from '../document/json.ts';
import { json } from './json-arbitraries.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'], richText: ['note'] };
const SITE = '5'.repeat(32);
const START = createDocument(parseJson('{"body":"low tide","items":[{"id":"x","n":1}],"note":[{"insert":"spring tide"}]}', RULE), RULE);
const OTHER = parseJson('{"body":"high tide, soon","items":[{"id":"y","n":[1,2.5,null,true,"x"]},{"id":"x","n":2}],"more":{"a":{"b":[]}},"note":[{"insert":"spr"},{"attributes":{"bold":true,"header":2},"insert":"ing ti"},{"attributes":{"link":"https://a.test"},"insert":"des"}]}', RULE);

/** Damages an honest edit in `runs` ways. Each is refused, or gives JSON; and whatever comes after it is taken as if nothing had been. */
export function checkDamagedEdits(runs: number): void {
  const { documentId, update: honest } = decodeDocumentCell(editDocument(START, OTHER, RULE, { site: SITE, generation: 1 }).edit) as { documentId: Uint8Array; update: Uint8Array };
  const damage = fc.array(fc.tuple(fc.nat({ max: honest.length - 1 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(damage, fc.option(fc.nat({ max: honest.length })), json, (bytes, cut, next) => {
      const update = honest.slice(0, cut ?? undefined);
      for (const [at, byte] of bytes) if (at < update.length) update[at] = byte;
      let state: Uint8Array = START;
      try {
        state = mergeForeignEdit(START, encodeDocumentCell({ kind: 'edit', documentId, generation: 1, update }), RULE, SITE).state;
      } catch (error) {
        expect((error as RockpoolError).code).toMatch(/^document-/);
      }
      const followed = editDocument(state, next, RULE, { site: SITE, generation: 2 });
      expect(documentText(mergeForeignEdit(state, followed.edit, RULE, SITE).state)).toBe(documentText(followed.state));
    }),
    { numRuns: runs },
  );
}
