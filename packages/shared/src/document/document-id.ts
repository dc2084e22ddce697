import { sha256 } from '../bytes/sha256.ts';
import type { DocumentRule } from './document-rule.ts';
import { canonicalJson, type JsonValue } from './json.ts';

/*
 * Yjs tells operations apart by (client id, clock), and two that share both destroy a document for good. So every
 * client id here is derived: the id of a site's edits from the site and a generation, the id of initial content from
 * that content, the generation of what the server carries over from all that it is made of. The server can check them,
 * and nobody can write as somebody else. 48 bits: with 100,000 ids in one document the odds of two being equal are 1 in
 * 50,000.
 */
export const DOCUMENT_ID_BYTES = 8;
const CLIENT_ID_BYTES = 6;

/**
 * The client id of the edits that a site makes in one generation. A site begins a new generation whenever clocks that
 * it has used might be gone from the server's copy: after a rejected edit, a replaced document, a reload.
 */
export function clientIdOf(site: string, generation: number): number {
  return toClientId(digest(`edits:${site}:${generation}`), 0);
}

export interface InitialIds {
  /** Equal for equal content under an equal rule: whoever creates the same document twice has one. */
  readonly documentId: Uint8Array<ArrayBuffer>;
  readonly clientId: number;
}

/**
 * `previous`: the document that this one takes the place of by compaction, so that it is another one even with the
 * content that that one began with.
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
