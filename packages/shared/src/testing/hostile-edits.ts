import * as Y from 'yjs';
import { clientIdOf } from '../document/document-id.ts';
import type { JsonObject } from '../document/json.ts';

/** What the document holds that the edits are of. `body` is a text merged by character. */
export const HOSTILE_START: JsonObject = { body: 'low tide', items: [{ id: 'x', n: 1 }] };

export interface HostileBase {
  /** The Yjs state of a new document of HOSTILE_START. */
  readonly update: Uint8Array;
  /** Whose edits of generation 1 they claim to be. */
  readonly site: string;
  /** Of the column's rule. */
  readonly maxLength: number;
}

/** What somebody can make with Yjs itself in a copy of the document. */
export function madeWithYjs({ update: start, site }: Pick<HostileBase, 'update' | 'site'>, change: (root: Y.Map<unknown>, doc: Y.Doc) => void, clientId: number = clientIdOf(site, 1)): Uint8Array {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, start);
  doc.clientID = clientId;
  let update: Uint8Array = new Uint8Array();
  doc.on('update', (bytes: Uint8Array) => (update = bytes));
  doc.transact(() => change(doc.getMap('json').get('value') as Y.Map<unknown>, doc));
  return update;
}

/** varint */
export function bytesOf(...numbers: readonly number[]): Uint8Array {
  return Uint8Array.from(
    numbers.flatMap((number) => {
      const bytes: number[] = [];
      let rest = number;
      for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
      return [...bytes, rest];
    }),
  );
}

/** Edits that no honest author sends, each with what is wrong with it. All are to be refused with `document-invalid`. */
export function hostileEdits(base: HostileBase): readonly (readonly [what: string, update: Uint8Array])[] {
  const { site, maxLength } = base;
  const clientId = clientIdOf(site, 1);
  const made = (change: (root: Y.Map<unknown>, doc: Y.Doc) => void, by?: number): Uint8Array => madeWithYjs(base, change, by);
  return [
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
    ['that is too large', made((root) => (root.get('body') as Y.Text).insert(0, 'x'.repeat(maxLength)))],
    ['that advances the clock beyond what it holds', bytesOf(1, 1, clientId, 0, 0, 2 ** 40, 0)],
  ];
}
