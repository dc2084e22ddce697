import type * as Y from 'yjs';
import type { JsonValue } from './json.ts';

/** Of the states of all open documents together, in bytes. What Yjs makes of a state takes several times as much. */
const MAX_OPEN_BYTES = 8 * 1024 * 1024;

/** They are looked through one by one. */
const MAX_OPEN = 32;

/** Smaller states are built faster than they are looked up. */
const MIN_OPEN_BYTES = 4 * 1024;

export interface OpenDocument {
  readonly doc: Y.Doc;
  /** Its JSON, where that is known. */
  readonly json: JsonValue | undefined;
}

interface Entry extends OpenDocument {
  readonly state: Uint8Array;
  readonly sizeBytes: number;
}

/**
 * Documents of the last few states, so that one edit after another does not build the whole document anew each time.
 * The last used is the first.
 */
let open: readonly Entry[] = [];

/** The document of a state. It is the caller's to change, and no longer open here; undefined when it is not open. */
export function takeOpen(state: Uint8Array): OpenDocument | undefined {
  const entry = find(state);
  if (entry !== undefined) open = open.filter((other) => other !== entry);
  return entry;
}

export function isOpen(state: Uint8Array): boolean {
  return find(state) !== undefined;
}

/** Keeps a document open: it is what `state` makes, of `sizeBytes` in all. */
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
