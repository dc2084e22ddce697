/** The sources of an id. Tests supply their own. */
export interface IdSources {
  readonly nowMs: () => number;
  /** Fills the array with random bytes. */
  readonly random: (bytes: Uint8Array<ArrayBuffer>) => void;
}

const COUNTER_LIMIT = 0x1000; // 12 bits

/**
 * Creates UUIDs of version 7 (RFC 9562): 48 bits of wall time in ms, a 12-bit counter within one ms, 62 random bits.
 * Ids of one source sort in creation order, even when the clock stands still or is set back. Ids of different tabs sort
 * by time only.
 */
export function createIdSource(sources: IdSources): () => string {
  const bytes = new Uint8Array(16);
  let lastMs = 0;
  let counter = 0;

  return () => {
    sources.random(bytes);
    const nowMs = sources.nowMs();
    if (nowMs > lastMs) {
      lastMs = nowMs;
      // The counter starts at a random value in its lower half: two tabs rarely use the same value within one ms, and
      // at least 2048 more ids fit.
      counter = (((bytes[6] ?? 0) << 8) | (bytes[7] ?? 0)) & 0x7ff;
    } else if (++counter === COUNTER_LIMIT) {
      lastMs += 1;
      counter = 0;
    }
    const view = new DataView(bytes.buffer);
    view.setUint16(0, Math.floor(lastMs / 2 ** 32));
    view.setUint32(2, lastMs % 2 ** 32);
    view.setUint16(6, 0x7000 | counter);
    view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
    return uuidText(bytes);
  };
}

/**
 * Returns a random id that sorts by creation time, for primary keys: a UUIDv7 as text. Works in pages,
 * workers and Node, so a schema may use it as `$defaultFn(newId)`.
 */
export const newId: () => string = createIdSource({
  nowMs: () => Date.now(),
  random: (bytes) => crypto.getRandomValues(bytes),
});

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function uuidText(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
    text += HEX[bytes[i] as number];
  }
  return text;
}
