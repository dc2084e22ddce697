import * as Y from 'yjs';

/** Documents of the last few states, so that one edit after another does not build the whole document anew each time. */
const CACHE_SIZE = 4;

/** Smaller states are built faster than they are looked up. */
const MIN_CACHED_BYTES = 4 * 1024;

interface Opened {
  readonly update: Uint8Array;
  readonly doc: Y.Doc;
}

let cache: readonly Opened[] = [];

/** The document of a state. It is the caller's to change; whoever has not spoiled it gives it back with `keepOpen`. */
export function openUpdate(update: Uint8Array): Y.Doc {
  const known = cache.find((opened) => sameBytes(opened.update, update));
  if (known !== undefined) {
    cache = cache.filter((opened) => opened !== known);
    return known.doc;
  }
  const doc = new Y.Doc();
  Y.applyUpdate(doc, update);
  return doc;
}

/** The state of a document as it is now; it is at hand when that state is opened next. */
export function closeDocument(doc: Y.Doc): Uint8Array {
  const update = Y.encodeStateAsUpdate(doc);
  keepOpen(update, doc);
  return update;
}

/** `doc` is what `update` makes. */
export function keepOpen(update: Uint8Array, doc: Y.Doc): void {
  if (update.length >= MIN_CACHED_BYTES) cache = [{ update, doc }, ...cache.slice(0, CACHE_SIZE - 1)];
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
