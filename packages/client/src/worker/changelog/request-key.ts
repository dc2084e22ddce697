/** Lower case only, because the stored bytes do not keep the case. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** A request id as rockpool_request stores it: a UUID, as clients generate them, takes 16 bytes instead of 36. */
export function requestKey(id: string): string | Uint8Array {
  if (!UUID.test(id)) return id;
  const bytes = new Uint8Array(16);
  let at = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (id.charCodeAt(at) === HYPHEN) at++;
    bytes[i] = (hexDigit(id.charCodeAt(at)) << 4) | hexDigit(id.charCodeAt(at + 1));
    at += 2;
  }
  return bytes;
}

const HYPHEN = 0x2d;

function hexDigit(code: number): number {
  return code < 0x3a ? code - 0x30 : code - 0x57;
}

const VERSION_INDEX = 14;

/** Whether the id is a UUID of version 7, which begins with the time of its creation. */
export function isTimedKey(id: string): boolean {
  return id[VERSION_INDEX] === '7' && UUID.test(id);
}

/** Sorts after every key of a UUID of version 7 that was created before this time, and before all later ones. */
export function timedKeysBefore(timeMs: number): Uint8Array {
  const bytes = new Uint8Array(6);
  const view = new DataView(bytes.buffer);
  const ms = Math.max(0, timeMs);
  view.setUint16(0, Math.floor(ms / 2 ** 32));
  view.setUint32(2, ms % 2 ** 32);
  return bytes;
}
