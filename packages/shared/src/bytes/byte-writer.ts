import { utf8Length } from './utf8-length.ts';

const INITIAL_BYTES = 256;

// Most outputs are small: writing one takes less time than allocating a buffer, so a finished writer passes its buffer
// to the next one.
const MAX_SPARE_BYTES = 64 * 1024;
let spare: Uint8Array<ArrayBuffer> | null = null;

/** Appends numbers, text and bytes to one growing buffer. Little-endian throughout. */
export class ByteWriter {
  private buffer: Uint8Array<ArrayBuffer> = spare ?? new Uint8Array(INITIAL_BYTES);
  private length = 0;

  constructor() {
    spare = null;
  }

  get byteLength(): number {
    return this.length;
  }

  u8(value: number): void {
    this.reserve(1);
    this.buffer[this.length++] = value;
  }

  u32(value: number): void {
    this.reserve(4);
    for (let shift = 0; shift < 32; shift += 8) this.buffer[this.length++] = value >>> shift;
  }

  f64(value: number): void {
    this.reserve(8);
    new DataView(this.buffer.buffer).setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A non-negative safe integer, 7 bits per byte, low bits first. */
  varint(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.length++] = rest;
  }

  /** A signed 64-bit integer: zigzag, then 7 bits per byte. */
  int64(value: bigint): void {
    if (value >= SAFE_ZIGZAG_MIN && value <= SAFE_ZIGZAG_MAX) {
      const small = Number(value);
      this.varint(small >= 0 ? small * 2 : -small * 2 - 1);
      return;
    }
    this.reserve(10);
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    while (rest >= 0x80n) {
      this.buffer[this.length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.buffer[this.length++] = Number(rest);
  }

  bytes(value: Uint8Array): void {
    this.reserve(value.length);
    this.buffer.set(value, this.length);
    this.length += value.length;
  }

  lengthPrefixed(value: Uint8Array): void {
    this.varint(value.length);
    this.bytes(value);
  }

  text(value: string): void {
    const sizeBytes = utf8Length(value);
    this.varint(sizeBytes);
    this.utf8(value, sizeBytes);
  }

  /** Writes a text as UTF-8. The caller knows its length in bytes (utf8-length.ts). */
  utf8(value: string, sizeBytes: number): void {
    if (sizeBytes !== value.length) {
      this.bytes(textEncoder.encode(value));
      return;
    }
    this.reserve(sizeBytes);
    const { buffer } = this;
    const start = this.length;
    for (let i = 0; i < sizeBytes; i++) buffer[start + i] = value.charCodeAt(i);
    this.length = start + sizeBytes;
  }

  /** Returns a copy of the bytes. The writer cannot be used afterwards. */
  finish(): Uint8Array<ArrayBuffer> {
    const written = this.buffer.slice(0, this.length);
    if (this.buffer.length <= MAX_SPARE_BYTES) spare = this.buffer;
    this.buffer = NO_BYTES;
    this.length = 0;
    return written;
  }

  private reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.buffer.length) return;
    let capacity = Math.max(INITIAL_BYTES, this.buffer.length * 2);
    while (capacity < needed) capacity *= 2;
    const grown = new Uint8Array(capacity);
    grown.set(this.buffer.subarray(0, this.length));
    this.buffer = grown;
  }
}

const NO_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(0);
const textEncoder = new TextEncoder();
// Twice a value within these bounds is a safe integer.
const SAFE_ZIGZAG_MAX = BigInt(Math.floor(Number.MAX_SAFE_INTEGER / 2));
const SAFE_ZIGZAG_MIN = -SAFE_ZIGZAG_MAX;
