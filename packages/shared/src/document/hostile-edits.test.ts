import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../../../tests/kit/cpu-time.ts';
import * as Y from 'yjs';
import { RockpoolError } from '../errors/rockpool-error.ts';
import {
  bytesOf,
  HOSTILE_RICH_START,
  HOSTILE_START,
  hostileEdits,
  hostileRichEdits,
  madeWithYjs,
} from '../../testing/hostile-edits.ts';
import { createDocument, documentText, mergeForeignEdit } from './document.ts';
import { decodeDocumentCell, encodeDocumentCell } from './document-cell.ts';
import { clientIdOf } from './document-id.ts';
import { DEFAULT_DOCUMENT_RULE, type DocumentRule } from './document-rule.ts';
import { canonicalJson } from './json.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'] };
const SITE = '5'.repeat(32);
const CLIENT = clientIdOf(SITE, 1);
const START = createDocument(HOSTILE_START, RULE);
const BASE = { update: updateOf(START), site: SITE, maxLength: RULE.maxLength };

const RICH_RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['title'], richText: ['body'] };
const RICH_START = createDocument(HOSTILE_RICH_START, RICH_RULE);
const RICH_BASE = { update: updateOf(RICH_START), site: SITE, maxLength: RICH_RULE.maxLength };

function updateOf(state: Uint8Array): Uint8Array {
  return (decodeDocumentCell(state) as { update: Uint8Array }).update;
}

function send(update: Uint8Array, start = START, rule: DocumentRule = RULE): string {
  const { documentId } = decodeDocumentCell(start) as { documentId: Uint8Array };
  try {
    return documentText(
      mergeForeignEdit(start, encodeDocumentCell({ kind: 'edit', documentId, generation: 1, update }), rule, SITE)
        .state,
    );
  } catch (error) {
    if (!(error instanceof RockpoolError)) throw error;
    return error.code;
  }
}

/** The edits of an author who types this number of characters. */
function editsOfOne(count: number): Uint8Array[] {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, BASE.update);
  doc.clientID = CLIENT;
  const updates: Uint8Array[] = [];
  doc.on('update', (bytes: Uint8Array) => updates.push(bytes));
  const text = (doc.getMap('json').get('value') as Y.Map<unknown>).get('body') as Y.Text;
  for (let n = 0; n < count; n++) text.insert(0, 'a');
  return updates;
}

describe('an edit that our code did not make', () => {
  it('is accepted if our code could have made it', () => {
    expect(send(madeWithYjs(BASE, (root) => (root.get('body') as Y.Text).insert(0, 'very ')))).toContain(
      'very low tide',
    );
  });

  it.each(hostileEdits(BASE))('is refused: an edit %s', (_, update) => {
    const startMs = cpuMs();
    expect(send(update)).toBe('document-invalid');
    // Ten times what the server allows, as protection against a hang. It does not measure speed.
    expect(cpuMs() - startMs).toBeLessThan(2500);
  });

  it('is accepted in a rich text if our code could have made it', () => {
    const update = madeWithYjs(RICH_BASE, (root) =>
      (root.get('body') as Y.Text).applyDelta([
        { insert: 'very ', attributes: { link: 'https://a.test' } },
        { retain: 6, attributes: { italic: true, bold: null } },
      ]),
    );
    expect(send(update, RICH_START, RICH_RULE)).toBe(
      '{"body":[{"attributes":{"link":"https://a.test"},"insert":"very "},{"attributes":{"italic":true},"insert":"low ti"},{"attributes":{"bold":true},"insert":"de"}],"title":"log"}',
    );
  });

  it.each(hostileRichEdits(RICH_BASE))('is refused in a document with rich text: an edit %s', (_, update) => {
    const startMs = cpuMs();
    expect(send(update, RICH_START, RICH_RULE)).toBe('document-invalid');
    expect(cpuMs() - startMs).toBeLessThan(2500);
  });

  it('is refused as a gap, and not kept, if the first edit of its author is missing', () => {
    const updates = editsOfOne(2_000).slice(1);
    expect(new Set(updates.map((update) => send(update)))).toEqual(new Set(['document-gap']));
    expect(documentText(START)).toBe(canonicalJson(HOSTILE_START));
  });

  it('is reported as a gap if it builds on operations that the document lacks', () => {
    const [, second] = editsOfOne(2);
    expect(send(second as Uint8Array)).toBe('document-gap');
    expect(send(bytesOf(0, 1, 77, 1, 0, 5))).toBe('document-gap');
  });
});
