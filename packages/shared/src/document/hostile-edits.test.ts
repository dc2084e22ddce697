import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { createDocument, documentText, mergeForeignEdit } from './document.ts';
import { decodeDocumentCell, encodeDocumentCell } from './document-cell.ts';
import { clientIdOf } from './document-id.ts';
import { DEFAULT_DOCUMENT_RULE } from './document-rule.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'] };
const SITE = '5'.repeat(32);
const CLIENT = clientIdOf(SITE, 1);
const START = createDocument({ body: 'low tide', items: [{ id: 'x', n: 1 }] }, RULE);
const { documentId } = decodeDocumentCell(START) as { documentId: Uint8Array };

function send(update: Uint8Array): string {
  try {
    return documentText(mergeForeignEdit(START, encodeDocumentCell({ kind: 'edit', documentId, generation: 1, update }), RULE, SITE));
  } catch (error) {
    if (!(error instanceof RockpoolError)) throw error;
    return error.code;
  }
}

/** What somebody can make with Yjs itself in a copy of the document. */
function made(change: (root: Y.Map<unknown>, doc: Y.Doc) => void, clientId: number = CLIENT): Uint8Array {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, (decodeDocumentCell(START) as { update: Uint8Array }).update);
  doc.clientID = clientId;
  let update: Uint8Array = new Uint8Array();
  doc.on('update', (bytes: Uint8Array) => (update = bytes));
  doc.transact(() => change(doc.getMap('json').get('value') as Y.Map<unknown>, doc));
  return update;
}

/** varint */
function bytesOf(...numbers: readonly number[]): Uint8Array {
  return Uint8Array.from(
    numbers.flatMap((number) => {
      const bytes: number[] = [];
      let rest = number;
      for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
      return [...bytes, rest];
    }),
  );
}

describe('an edit by hand', () => {
  it('is taken when it is one that our code could have made', () => {
    expect(send(made((root) => (root.get('body') as Y.Text).insert(0, 'very ')))).toContain('very low tide');
  });

  it.each<[string, Uint8Array]>([
    ['of nothing', new Uint8Array()],
    ['that claims thirty million structs', bytesOf(1, 30_000_000)],
    ['that claims as many clients', bytesOf(30_000_000)],
    ['in the second encoding of Yjs', (() => {
      const doc = new Y.Doc();
      doc.getMap('json').set('a', 1);
      return Y.encodeStateAsUpdateV2(doc);
    })()],
    ['under the client id of another site', made((root) => root.set('a', 1), clientIdOf('6'.repeat(32), 1))],
    ['under the client id of the initial content', made((root) => root.set('a', 1), 1)],
    ['with __proto__ as a member', made((root) => root.set('__proto__', 1))],
    ['with constructor as a member', made((root) => root.set('constructor', 1))],
    ['with an object that is no type of its own', made((root) => root.set('a', { ['__proto__']: 1 }))],
    ['with bytes', made((root) => root.set('a', new Uint8Array(3)))],
    ['with XML', made((root) => root.set('a', new Y.XmlFragment()))],
    ['with a document in the document', made((root) => root.set('a', new Y.Doc()))],
    ['outside the document', made((_, doc) => doc.getMap('other').set('a', 1))],
    ['that is not a number', made((root) => root.set('a', Number.NaN))],
    ['with an undefined', made((root) => root.set('a', undefined))],
    ['that places no element of a list', made((root) => (root.get('items') as Y.Map<unknown>).set('sy', new Y.Map()))],
    ['that is nested too deep', made((root) => {
      let inner = root;
      for (let depth = 0; depth < 5000; depth++) inner = inner.set('a', new Y.Map<unknown>());
    })],
    ['that is too large', made((root) => (root.get('body') as Y.Text).insert(0, 'x'.repeat(RULE.maxLength)))],
    ['that advances the clock beyond what it holds', bytesOf(1, 1, CLIENT, 0, 0, 2 ** 40, 0)],
  ])('%s is refused', (_, update) => {
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
