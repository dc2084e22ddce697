/**
 * Returns the index of the thread that owns a database: the one with the highest hash of id and index (rendezvous
 * hashing), so that few databases change owner when the number of threads changes.
 */
export function ownerOf(databaseId: string, count: number): number {
  let owner = 0;
  let highest = -1;
  for (let index = 0; index < count; index++) {
    const hash = hashOf(databaseId, index);
    if (hash > highest) {
      highest = hash;
      owner = index;
    }
  }
  return owner;
}

/** FNV-1a with a final mix, as an unsigned 32-bit number: the bits of FNV alone depend too little on the last bytes. */
function hashOf(databaseId: string, index: number): number {
  let hash = Math.imul(0x811c9dc5 ^ index, 0x01000193);
  for (let i = 0; i < databaseId.length; i++) hash = Math.imul(hash ^ databaseId.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
