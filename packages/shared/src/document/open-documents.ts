import type * as Y from 'yjs';
import type { JsonValue } from './json.ts';

/**
 * Limit for the states of all open documents together, in bytes. The Yjs document of a state takes several times as
 * much.
 */
const MAX_OPEN_BYTES = 8 * 1024 * 1024;

/** Limit for the number of open documents, which are searched linearly. */
const MAX_OPEN = 32;

/** Smaller states are built faster than they are looked up. */
const MIN_OPEN_BYTES = 4 * 1024;

export interface OpenDocument {
  readonly doc: Y.Doc;
  /** Its JSON, if known. */
  readonly json: JsonValue | undefined;
}

interface Entry extends OpenDocument {
  readonly state: Uint8Array;
  readonly sizeBytes: number;
}

/**
 * Documents of the most recent states, so that consecutive edits do not rebuild the document each time. Most recently
 * used first.
 */
let open: readonly Entry[] = [];

/** Takes the document of a state out of the cache; the caller may change it. Undefined if the document is not open. */
export function takeOpen(state: Uint8Array): OpenDocument | undefined {
  const entry = find(state);
  if (entry !== undefined) open = open.filter((other) => other !== entry);
  return entry;
}

export function isOpen(state: Uint8Array): boolean {
  return find(state) !== undefined;
}

/** Puts the document of a state, of `sizeBytes` in total, into the cache. */
export function keepOpen(state: Uint8Array, sizeBytes: number, { doc, json }: OpenDocument): void {
  if (sizeBytes < MIN_OPEN_BYTES) return;
  let total = 0;
  open = [{ state, sizeBytes, doc, json }, ...open.filter((other) => !sameBytes(other.state, state))].filter(
    (entry, index) => index < MAX_OPEN && (total += entry.sizeBytes) <= MAX_OPEN_BYTES,
  );
}

function find(state: Uint8Array): Entry | undefined {
  return open.find((entry) => sameBytes(entry.state, state));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
