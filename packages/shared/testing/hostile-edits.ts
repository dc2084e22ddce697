import * as Y from 'yjs';
import { clientIdOf } from '../src/document/document-id.ts';
import type { JsonObject } from '../src/document/json.ts';
import { PLACE, PLAIN } from '../src/document/json-node.ts';
import { RICH } from '../src/document/rich-text-node.ts';

/** The content of the document for which the edits are made. `body` is a text merged by character. */
export const HOSTILE_START: JsonObject = { body: 'low tide', items: [{ id: 'x', n: 1 }] };

export interface HostileBase {
  /** The Yjs state of a new document of HOSTILE_START. */
  readonly update: Uint8Array;
  /** The site that the edits of generation 1 claim as their author. */
  readonly site: string;
  /** The limit of the column's rule. */
  readonly maxLength: number;
}

/** The content of documents with rich text: `body` is a rich text, `title` a text merged by character. */
export const HOSTILE_RICH_START: JsonObject = {
  body: [{ insert: 'low ' }, { attributes: { bold: true }, insert: 'tide' }],
  title: 'log',
};

/** Edits that an attacker can create with Yjs itself in a copy of the document. */
export function madeWithYjs(
  { update: start, site }: Pick<HostileBase, 'update' | 'site'>,
  change: (root: Y.Map<unknown>, doc: Y.Doc) => void,
  clientId: number = clientIdOf(site, 1),
): Uint8Array {
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

/** Edits that no honest author sends, each with its fault. All must be rejected with `document-invalid`. */
export function hostileEdits(base: HostileBase): readonly (readonly [what: string, update: Uint8Array])[] {
  const { site, maxLength } = base;
  const clientId = clientIdOf(site, 1);
  const made = (change: (root: Y.Map<unknown>, doc: Y.Doc) => void, by?: number): Uint8Array =>
    madeWithYjs(base, change, by);
  const inBody = (change: (body: Y.Text) => void): Uint8Array => made((root) => change(root.get('body') as Y.Text));
  return [
    ['of nothing', new Uint8Array()],
    ['that claims thirty million structs', bytesOf(1, 30_000_000)],
    ['that claims as many clients', bytesOf(30_000_000)],
    [
      'in the second encoding of Yjs',
      (() => {
        const doc = new Y.Doc();
        doc.getMap('json').set('a', 1);
        return Y.encodeStateAsUpdateV2(doc);
      })(),
    ],
    ['in the second encoding of Yjs, which holds a hundred thousand structs in a few bytes', deletedElements(100_000)],
    ['under the client id of another site', made((root) => root.set('a', 1), clientIdOf('6'.repeat(32), 1))],
    ['under the client id of the initial content', made((root) => root.set('a', 1), 1)],
    ['with __proto__ as a member', made((root) => root.set('__proto__', 1))],
    ['with constructor as a member', made((root) => root.set('constructor', 1))],
    ['with prototype as a member, deep inside', made((root) => root.set('a', new Y.Map([['prototype', 1]])))],
    [
      'with __proto__ as the name of an element',
      made((root) => (root.get('items') as Y.Map<unknown>).set('__proto__', new Y.Map())),
    ],
    ['with an object that is no type of its own', made((root) => root.set('a', { ['__proto__']: 1 }))],
    ['with bytes', made((root) => root.set('a', new Uint8Array(3)))],
    ['with XML', made((root) => root.set('a', new Y.XmlFragment()))],
    ['with a document in the document', made((root) => root.set('a', new Y.Doc()))],
    ['outside the document', made((_, doc) => doc.getMap('other').set('a', 1))],
    ['outside the document, under the name __proto__', made((_, doc) => doc.getMap('__proto__').set('a', 1))],
    ['that is not a number', made((root) => root.set('a', Number.NaN))],
    ['with an undefined', made((root) => root.set('a', undefined))],
    ['with NUL in a string', made((root) => root.set('a', 'x\u0000'))],
    ['with NUL in a key', made((root) => root.set('x\u0000', 1))],
    ['with NUL in a text', inBody((body) => body.insert(0, 'x\u0000'))],
    ['with a map in a text', inBody((body) => body.insertEmbed(0, new Y.Map()))],
    [
      'with a number in a text',
      listContentBy(
        site,
        itemIdOf(base, (root) => root.get('body')),
        8,
        [1, 125, 5],
      ),
    ],
    ['with an object in a text', inBody((body) => body.insertEmbed(0, { image: 'x' }))],
    [
      'with halves of characters in a list',
      listContentBy(
        site,
        itemIdOf(base, (root) => (root.get('items') as Y.Map<unknown>).get(PLAIN)),
        4,
        [4, 0xf0, 0x9f, 0x91, 0x8d],
      ),
    ],
    ['that places no element of a list', made((root) => (root.get('items') as Y.Map<unknown>).set('sy', new Y.Map()))],
    ...['000000', 'V000000'].map((place): readonly [string, Uint8Array] => [
      `that places an element at ${place}, before which there is no room`,
      made((root) => {
        const element = new Y.Map(Object.entries({ id: 'y', [PLACE]: place }));
        (root.get('items') as Y.Map<unknown>).set('sy', element);
      }),
    ]),
    [
      'that is nested too deep',
      made((root) => {
        let inner = root;
        for (let depth = 0; depth < 5000; depth++) inner = inner.set('a', new Y.Map<unknown>());
      }),
    ],
    ['with a format in a document without rich text', inBody((body) => body.format(0, 3, { bold: true }))],
    ['with a rich text in a document without them', made((root) => root.set('a', richText('x')))],
    ['that is too large', inBody((body) => body.insert(0, 'x'.repeat(maxLength)))],
    ['that claims thirty million deletions', bytesOf(0, 30_000_000)],
    ['that claims thirty million ranges of one', bytesOf(0, 1, clientId, 30_000_000)],
    ['that leaves something out', bytesOf(1, 1, clientId, 0, 10, 5, 0)],
    ['that advances the clock beyond what it holds', bytesOf(1, 1, clientId, 0, 0, 2 ** 40, 0)],
  ];
}

/** The operation that created a type of the document. */
function itemIdOf({ update }: HostileBase, find: (root: Y.Map<unknown>) => unknown): Y.ID {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, update);
  return ((find(doc.getMap('json').get('value') as Y.Map<unknown>) as Y.Text)._item as Y.Item).id;
}

/** Puts content (its kind and bytes) into the sequence of a type, where Yjs itself would not put it. */
function listContentBy(site: string, { client, clock }: Y.ID, kind: number, content: readonly number[]): Uint8Array {
  return Uint8Array.from([...bytesOf(1, 1, clientIdOf(site, 1), 0, kind, 0, client, clock), ...content, 0]);
}

/**
 * Deleted elements, each inserted before the previous one: the second encoding compresses them to almost nothing, but
 * its reader expands them all.
 */
function deletedElements(count: number): Uint8Array {
  const doc = new Y.Doc();
  const list = doc.getArray<number>('list');
  doc.transact(() => {
    for (let n = 0; n < count; n++) list.insert(0, [0]);
  });
  list.delete(0, count);
  return Y.encodeStateAsUpdateV2(doc);
}

function richText(content: string): Y.Text {
  const text = new Y.Text(content);
  text.setAttribute(RICH, true);
  return text;
}

/** The same for a document of HOSTILE_RICH_START. */
export function hostileRichEdits(base: HostileBase): readonly (readonly [what: string, update: Uint8Array])[] {
  const made = (change: (root: Y.Map<unknown>) => void): Uint8Array => madeWithYjs(base, change);
  const inBody = (change: (body: Y.Text) => void): Uint8Array => made((root) => change(root.get('body') as Y.Text));
  const format = (formats: object): Uint8Array => inBody((body) => body.format(0, 3, formats));
  return [
    ['with an object for a format', format({ bold: { deep: true } })],
    ['with a list for a format', format({ bold: [1] })],
    ['with a format named __proto__', format({ ['__proto__']: true })],
    ['with a format without a name', format({ '': true })],
    ['with a long name of a format', format({ ['x'.repeat(65)]: true })],
    ['with a long format', format({ link: 'x'.repeat(2049) })],
    ['with NUL in a format', format({ link: '\u0000' })],
    ['with half a character in a format', format({ link: '\ud800' })],
    ['with NUL in a rich text', inBody((body) => body.insert(0, 'x\u0000'))],
    [
      'with a map in a text without formats beside it',
      made((root) => (root.get('title') as Y.Text).insertEmbed(0, new Y.Map())),
    ],
    ['with an object in a rich text', inBody((body) => body.insertEmbed(0, { image: 'x' }))],
    ['with a map in a rich text', inBody((body) => body.insertEmbed(0, new Y.Map()))],
    [
      'with a format in a text without formats',
      made((root) => (root.get('title') as Y.Text).format(0, 2, { bold: true })),
    ],
    ['with a string for a rich text', made((root) => root.set('body', 'x'))],
    ['with a text without formats for a rich text', made((root) => root.set('body', new Y.Text('x')))],
    ['with a list for a rich text', made((root) => root.set('body', new Y.Array()))],
    ['with a rich text where none is declared', made((root) => root.set('title', richText('x')))],
    [
      'with more formats of its characters than a document has room for',
      inBody((body) => {
        body.insert(
          0,
          'xy'.repeat(500),
          Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${'name'.repeat(5)}${index}`, true])),
        );
        for (let at = 0; at < 1000; at += 2) body.format(at, 1, { odd: true });
      }),
    ],
  ];
}
