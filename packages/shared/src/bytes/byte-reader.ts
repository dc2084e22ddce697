import type { ErrorCode } from '../errors/error-codes.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';

/**
 * Reads what ByteWriter wrote. Trusts nothing: every read checks the end of the input, and every varint is checked for
 * its size. Invalid input throws a RockpoolError of the given code, with the position and never the bytes.
 */
export class ByteReader {
  private readonly buffer: Uint8Array;
  private readonly errorCode: ErrorCode;
  private position = 0;

  constructor(buffer: Uint8Array, errorCode: ErrorCode) {
    this.buffer = buffer;
    this.errorCode = errorCode;
  }

  get remaining(): number {
    return this.buffer.length - this.position;
  }

  fail(problem: string): never {
    throw new RockpoolError(this.errorCode, { problem, position: this.position });
  }

  expectEnd(): void {
    if (this.remaining !== 0) this.fail('bytes remain after the end of the value');
  }

  u8(): number {
    this.need(1);
    return this.buffer[this.position++] as number;
  }

  /** A u8 that is 0 or 1. */
  flag(): boolean {
    const value = this.u8();
    if (value > 1) this.fail('a boolean is neither 0 nor 1');
    return value === 1;
  }

  u32(): number {
    this.need(4);
    let value = 0;
    for (let shift = 0; shift < 32; shift += 8) value |= (this.buffer[this.position++] as number) << shift;
    return value >>> 0;
  }

  f64(): number {
    this.need(8);
    const value = new DataView(this.buffer.buffer, this.buffer.byteOffset).getFloat64(this.position, true);
    this.position += 8;
    return value;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) this.fail('a number is too large');
        return value;
      }
      scale *= 0x80;
    }
    return this.fail('a number has too many bytes');
  }

  /**
   * A count of items that take at least `minBytesEach` bytes each. The rest of the input limits it, so that a forged
   * count cannot allocate memory.
   */
  count(minBytesEach: number): number {
    const value = this.varint();
    if (value * minBytesEach > this.remaining) this.fail('a count exceeds the bytes that follow');
    return value;
  }

  int64(): bigint {
    let low = 0;
    let scale = 1;
    const start = this.position;
    for (let count = 0; count < 7; count++) {
      const byte = this.u8();
      low += (byte & 0x7f) * scale;
      if (byte < 0x80) return low % 2 === 0 ? BigInt(low / 2) : -BigInt((low + 1) / 2);
      scale *= 0x80;
    }
    this.position = start;
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (value > 0xffff_ffff_ffff_ffffn) this.fail('a number is too large');
        return (value & 1n) === 0n ? value >> 1n : -(value >> 1n) - 1n;
      }
    }
    return this.fail('a number has too many bytes');
  }

  /** A view of the next bytes, not a copy. */
  bytes(count: number): Uint8Array {
    this.need(count);
    const value = this.buffer.subarray(this.position, this.position + count);
    this.position += count;
    return value;
  }

  lengthPrefixed(): Uint8Array {
    return this.bytes(this.varint());
  }

  text(): string {
    return this.utf8(this.lengthPrefixed());
  }

  utf8(bytes: Uint8Array): string {
    try {
      return textDecoder.decode(bytes);
    } catch {
      return this.fail('text is not valid UTF-8');
    }
  }

  private need(count: number): void {
    if (count > this.remaining) this.fail('the bytes end too early');
  }
}

// `ignoreBOM`: a leading U+FEFF is kept as part of the text.
const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
