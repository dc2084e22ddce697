import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { bytesOf, HOSTILE_START, hostileEdits, madeWithYjs } from '../testing/hostile-edits.ts';
import { createDocument, documentText, mergeForeignEdit } from './document.ts';
import { decodeDocumentCell, encodeDocumentCell } from './document-cell.ts';
import { clientIdOf } from './document-id.ts';
import { DEFAULT_DOCUMENT_RULE } from './document-rule.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'] };
const SITE = '5'.repeat(32);
const CLIENT = clientIdOf(SITE, 1);
const START = createDocument(HOSTILE_START, RULE);
const { documentId, update: START_UPDATE } = decodeDocumentCell(START) as { documentId: Uint8Array; update: Uint8Array };
const BASE = { update: START_UPDATE, site: SITE, maxLength: RULE.maxLength };

function send(update: Uint8Array): string {
  try {
    return documentText(mergeForeignEdit(START, encodeDocumentCell({ kind: 'edit', documentId, generation: 1, update }), RULE, SITE).state);
  } catch (error) {
    if (!(error instanceof RockpoolError)) throw error;
    return error.code;
  }
}

describe('an edit by hand', () => {
  it('is taken when it is one that our code could have made', () => {
    expect(send(madeWithYjs(BASE, (root) => (root.get('body') as Y.Text).insert(0, 'very ')))).toContain('very low tide');
  });

  it.each(hostileEdits(BASE))('%s is refused', (_, update) => {
    const startMs = Date.now();
    expect(send(update)).toBe('document-invalid');
    // Ten times what the server allows: against hangs, not a measure of speed.
    expect(Date.now() - startMs).toBeLessThan(2500);
  });

  it('that builds on what the document does not have is told apart', () => {
    const [, second] = (() => {
      const doc = new Y.Doc();
      Y.applyUpdate(doc, (decodeDocumentCell(START) as { update: Uint8Array }).update);
      doc.clientID = CLIENT;
      const updates: Uint8Array[] = [];
      doc.on('update', (bytes: Uint8Array) => updates.push(bytes));
      const text = (doc.getMap('json').get('value') as Y.Map<unknown>).get('body') as Y.Text;
      text.insert(0, 'a');
      text.insert(0, 'b');
      return updates;
    })();
    expect(send(second as Uint8Array)).toBe('document-gap');
    expect(send(bytesOf(0, 1, 77, 1, 0, 5))).toBe('document-gap');
  });
});
