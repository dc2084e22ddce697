/** Lower case only, since the stored bytes do not tell. */
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** A request id as rockpool_request stores it: a UUID, as clients generate them, takes 16 bytes instead of 36. */
export function requestKey(id: string): string | Uint8Array {
  if (!UUID.test(id)) return id;
  const hex = id.replaceAll('-', '');
  return Uint8Array.from({ length: 16 }, (_, index) => parseInt(hex.slice(2 * index, 2 * index + 2), 16));
}
