// All fields of the log are 32-bit little-endian words. Every platform that runs WebAssembly stores words in this way,
// and typed arrays read and write them without a DataView.

/** Stores an integer below 2^53 in two words. */
export function putNumber(words: Int32Array, index: number, value: number): void {
  words[index] = value | 0;
  words[index + 1] = Math.floor(value / 0x1_0000_0000);
}

export function getNumber(words: Int32Array, index: number): number {
  return (words[index]! >>> 0) + (words[index + 1]! >>> 0) * 0x1_0000_0000;
}

/** A buffer seen as bytes (for files) and as words (for fields and checksums). */
export interface WordBuffer {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

export function wordBuffer(sizeBytes: number): WordBuffer {
  const buffer = new ArrayBuffer(sizeBytes);
  return { bytes: new Uint8Array(buffer), words: new Int32Array(buffer) };
}
