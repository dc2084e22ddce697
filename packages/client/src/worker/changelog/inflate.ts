import { RockpoolError } from '@rockpool/shared';
import { CODE_LENGTH_ORDER, DISTANCES, END_OF_BLOCK, LENGTHS, MAX_CODE_BITS } from './deflate-tables.ts';

/**
 * Decompresses raw DEFLATE of a known size. Synchronous, unlike `DecompressionStream`, because it runs in transactions.
 * Throws `storage-corrupt` if the data is invalid or has a different size.
 */
export function inflate(input: Uint8Array, sizeBytes: number): Uint8Array<ArrayBuffer> {
  const reader = new BitReader(input);
  const output = new Uint8Array(sizeBytes);
  let length = 0;
  for (let isLast = false; !isLast;) {
    isLast = reader.bits(1) === 1;
    const kind = reader.bits(2);
    if (kind === 0) length = copyStored(reader, output, length);
    else if (kind === 1) length = inflateBlock(reader, FIXED_LITERALS, FIXED_DISTANCES, output, length);
    else if (kind === 2) {
      const { literals, distances } = readCodes(reader);
      length = inflateBlock(reader, literals, distances, output, length);
    } else throw damaged('a block has an unknown type');
  }
  if (length !== sizeBytes) throw damaged('the size differs from the stored size');
  return output;
}

function copyStored(reader: BitReader, output: Uint8Array, from: number): number {
  const bytes = reader.stored();
  if (from + bytes.length > output.length) throw damaged('the size differs from the stored size');
  output.set(bytes, from);
  return from + bytes.length;
}

function inflateBlock(reader: BitReader, literals: Codes, distances: Codes, output: Uint8Array, from: number): number {
  let length = from;
  for (;;) {
    const symbol = reader.symbol(literals);
    if (symbol === END_OF_BLOCK) return length;
    if (symbol < END_OF_BLOCK) {
      if (length === output.length) throw damaged('the size differs from the stored size');
      output[length++] = symbol;
      continue;
    }
    const size = reader.extended(LENGTHS, symbol - 257);
    const start = length - reader.extended(DISTANCES, reader.symbol(distances));
    if (start < 0 || length + size > output.length) throw damaged('a match is out of bounds');
    for (let at = start; at < start + size; at++) output[length++] = output[at] as number;
  }
}

/** Canonical Huffman codes: the number of codes of each length, and their symbols in order. */
interface Codes {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

function codesOf(lengths: Uint8Array): Codes {
  const counts = new Uint16Array(MAX_CODE_BITS + 1);
  for (const bits of lengths) (counts[bits] as number)++;
  counts[0] = 0;
  const next = new Uint16Array(MAX_CODE_BITS + 2);
  for (let bits = 1; bits <= MAX_CODE_BITS; bits++) next[bits + 1] = (next[bits] as number) + (counts[bits] as number);
  const symbols = new Uint16Array(lengths.length);
  lengths.forEach((bits, symbol) => {
    if (bits === 0) return;
    const index = next[bits] as number;
    symbols[index] = symbol;
    next[bits] = index + 1;
  });
  return { counts, symbols };
}

const FIXED_LITERALS: Codes = codesOf(
  Uint8Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)),
);
const FIXED_DISTANCES: Codes = codesOf(new Uint8Array(30).fill(5));

function readCodes(reader: BitReader): { readonly literals: Codes; readonly distances: Codes } {
  const literalCount = reader.bits(5) + 257;
  const distanceCount = reader.bits(5) + 1;
  const orderCount = reader.bits(4) + 4;
  const order = new Uint8Array(CODE_LENGTH_ORDER.length);
  for (const symbol of CODE_LENGTH_ORDER.slice(0, orderCount)) order[symbol] = reader.bits(3);
  const codes = codesOf(order);
  const lengths = new Uint8Array(literalCount + distanceCount);
  for (let at = 0; at < lengths.length;) {
    const symbol = reader.symbol(codes);
    if (symbol < 16) {
      lengths[at++] = symbol;
      continue;
    }
    const repeated = symbol === 16 ? (lengths[at - 1] ?? 0) : 0;
    const count = symbol === 16 ? 3 + reader.bits(2) : symbol === 17 ? 3 + reader.bits(3) : 11 + reader.bits(7);
    if (at + count > lengths.length) throw damaged('there are too many codes');
    lengths.fill(repeated, at, at + count);
    at += count;
  }
  return { literals: codesOf(lengths.subarray(0, literalCount)), distances: codesOf(lengths.subarray(literalCount)) };
}

/** Reads bits, lowest first. */
class BitReader {
  private readonly input: Uint8Array;
  private position = 0;
  private pending = 0;
  private pendingBits = 0;

  constructor(input: Uint8Array) {
    this.input = input;
  }

  /** Reads at most 16 bits. */
  bits(count: number): number {
    while (this.pendingBits < count) {
      if (this.position === this.input.length) throw damaged('the data ends too early');
      this.pending |= (this.input[this.position++] as number) << this.pendingBits;
      this.pendingBits += 8;
    }
    const value = this.pending & ((1 << count) - 1);
    this.pending >>>= count;
    this.pendingBits -= count;
    return value;
  }

  symbol({ counts, symbols }: Codes): number {
    let [code, first, index] = [0, 0, 0];
    for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
      code |= this.bits(1);
      const count = counts[bits] as number;
      if (code - first < count) return symbols[index + code - first] as number;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw damaged('a code is unknown');
  }

  extended(
    { bits, bases }: { readonly bits: readonly number[]; readonly bases: readonly number[] },
    code: number,
  ): number {
    const base = bases[code];
    if (base === undefined) throw damaged('a code is unknown');
    return base + this.bits(bits[code] as number);
  }

  /** The bytes of a stored block, which begins at the next whole byte. */
  stored(): Uint8Array {
    this.position -= this.pendingBits >>> 3;
    this.pending = 0;
    this.pendingBits = 0;
    const size = this.bits(16);
    if ((this.bits(16) ^ size) !== 0xffff) throw damaged('the length of a stored block is wrong');
    const bytes = this.input.subarray(this.position, this.position + size);
    if (bytes.length < size) throw damaged('the data ends too early');
    this.position += size;
    return bytes;
  }
}

function damaged(problem: string): RockpoolError {
  return new RockpoolError('storage-corrupt', { problem: `compressed changesets cannot be read: ${problem}` });
}
