import { sha256 } from '../bytes/sha256.ts';
import type { DocumentRule } from './document-rule.ts';
import { canonicalJson, type JsonValue } from './json.ts';

/*
 * Yjs identifies operations by (client id, clock). Two operations with the same pair corrupt a document permanently.
 * Every client id is therefore derived: the id of a site's edits from the site and a generation, and the id of initial
 * content from that content. When the server carries an edit over, it derives the generation from all sources of the
 * edit. The server can check the ids, and no site can write as another. 48 bits: with 100,000 ids in one document, the
 * odds of a collision are 1 in 50,000.
 */
export const DOCUMENT_ID_BYTES = 8;
const CLIENT_ID_BYTES = 6;

/**
 * The client id of a site's edits in one generation. A site begins a new generation whenever the server's copy may lack
 * clocks that the site has used: after a rejected edit, a replaced document, a full resync.
 */
export function clientIdOf(site: string, generation: number): number {
  return toClientId(digest(`edits:${site}:${generation}`), 0);
}

export interface InitialIds {
  /** Equal content under an equal rule has equal ids: creating the same document twice gives one document. */
  readonly documentId: Uint8Array<ArrayBuffer>;
  readonly clientId: number;
}

/**
 * `previous` is the document that this one replaces by compaction. It gives the new document a different id even if
 * both have the same content.
 */
export function initialIds(
  content: JsonValue,
  rule: DocumentRule,
  previous: Uint8Array = new Uint8Array(),
): InitialIds {
  const { text, richText, elementKey } = rule;
  const form = [[...text].sort(), elementKey, ...(richText === undefined ? [] : [[...richText].sort()])];
  const hash = digest(`content:${previous.join()}:${JSON.stringify(form)}:${canonicalJson(content)}`);
  return { documentId: hash.slice(0, DOCUMENT_ID_BYTES), clientId: toClientId(hash, DOCUMENT_ID_BYTES) };
}

function toClientId(hash: Uint8Array, offset: number): number {
  let id = 0;
  for (const byte of hash.subarray(offset, offset + CLIENT_ID_BYTES)) id = id * 256 + byte;
  return id;
}

function digest(text: string): Uint8Array<ArrayBuffer> {
  return sha256(new TextEncoder().encode(text));
}
