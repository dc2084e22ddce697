import { encodeMessage, type SeenPresence } from '@rockpool/shared';

/** Upper bound for the site, tab, time and lengths of one state. */
const FIXED_BYTES = 64;

/**
 * Encodes states as `presence-update` messages of about `maxBytes` or less; a larger state is a message of its own.
 * Only the first message carries `whole`; the following ones add to it.
 */
export function encodePresence(seen: readonly SeenPresence[], whole: boolean, maxBytes: number): Uint8Array[] {
  const parts: SeenPresence[][] = [[]];
  let sizeBytes = 0;
  for (const state of seen) {
    const stateBytes = sizeOf(state);
    if (sizeBytes > 0 && sizeBytes + stateBytes > maxBytes) {
      parts.push([]);
      sizeBytes = 0;
    }
    parts.at(-1)?.push(state);
    sizeBytes += stateBytes;
  }
  return parts.map((part, index) =>
    encodeMessage({ type: 'presence-update', whole: whole && index === 0, seen: part }),
  );
}

function sizeOf({ principal, name, topic, stateJson }: SeenPresence): number {
  return (
    FIXED_BYTES +
    Buffer.byteLength(principal) +
    Buffer.byteLength(name) +
    Buffer.byteLength(topic) +
    Buffer.byteLength(stateJson ?? '')
  );
}
