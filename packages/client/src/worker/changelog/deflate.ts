import {
  CODE_LENGTH_ORDER,
  DISTANCES,
  END_OF_BLOCK,
  LENGTHS,
  MAX_CODE_BITS,
  MAX_MATCH,
  MIN_MATCH,
  WINDOW_BYTES,
  type ExtraBits,
} from './deflate-tables.ts';

const HASH_BITS = 14;

/** The maximum number of earlier positions compared for one match. A higher limit would save less than one percent. */
const MAX_CHAIN = 48;

/** A match this long is used without trying the next byte. */
const GOOD_MATCH = 32;

/** The maximum size in bits of the codes in which the lengths of the other codes are stored. */
const MAX_CODE_LENGTH_BITS = 7;

/**
 * Compresses as raw DEFLATE, in one block of dynamic codes. Synchronous, unlike `CompressionStream`, because it runs in
 * transactions. About 10 MB a second.
 */
export function deflate(input: Uint8Array): Uint8Array<ArrayBuffer> {
  const symbols = findMatches(input);
  const literals = new Uint32Array(LENGTH_CODES + 257);
  const distances = new Uint32Array(DISTANCE_CODES);
  forEachSymbol(symbols, (code, _extra, distanceCode) => {
    (literals[code] as number)++;
    if (distanceCode >= 0) (distances[distanceCode] as number)++;
  });
  const literalLengths = codeLengths(literals, MAX_CODE_BITS);
  const distanceLengths = codeLengths(distances, MAX_CODE_BITS);
  const out = new BitWriter(input.length);
  out.bits(1, 1); // The last block.
  out.bits(2, 2); // Dynamic codes.
  writeCodeLengths(out, literalLengths, distanceLengths);
  const literalCodes = codesOf(literalLengths);
  const distanceCodes = codesOf(distanceLengths);
  forEachSymbol(symbols, (code, lengthExtra, distanceCode, distanceExtra) => {
    out.bits(literalCodes[code] as number, literalLengths[code] as number);
    if (distanceCode < 0) return;
    out.bits(lengthExtra, LENGTHS.bits[code - 257] as number);
    out.bits(distanceCodes[distanceCode] as number, distanceLengths[distanceCode] as number);
    out.bits(distanceExtra, DISTANCES.bits[distanceCode] as number);
  });
  return out.finish();
}

const LENGTH_CODES = LENGTHS.bases.length;
const DISTANCE_CODES = DISTANCES.bases.length;

/**
 * A literal is stored as its byte value, and a match as `length << 16 | distance`, which exceeds any literal. The
 * end-of-block code comes last.
 */
function findMatches(input: Uint8Array): Uint32Array {
  const symbols = new Uint32Array(input.length + 1);
  const chains = new Chains(input);
  let count = 0;
  for (let at = 0; at < input.length;) {
    const match = chains.longest(at);
    chains.add(at);
    // A longer match may begin one byte later.
    if (match === 0 || (match >>> 16 < GOOD_MATCH && chains.longest(at + 1) >>> 16 > match >>> 16)) {
      symbols[count++] = input[at++] as number;
      continue;
    }
    symbols[count++] = match;
    const end = at + (match >>> 16);
    while (++at < end) chains.add(at);
  }
  symbols[count++] = END_OF_BLOCK;
  return symbols.subarray(0, count);
}

/** The positions of the input so far, chained by a hash of their first three bytes. */
class Chains {
  private readonly input: Uint8Array;
  private readonly heads = new Int32Array(1 << HASH_BITS).fill(-1);
  private readonly previous: Int32Array;

  constructor(input: Uint8Array) {
    this.input = input;
    this.previous = new Int32Array(input.length);
  }

  add(at: number): void {
    if (at + MIN_MATCH > this.input.length) return;
    const hash = this.hash(at);
    this.previous[at] = this.heads[hash] as number;
    this.heads[hash] = at;
  }

  /** length << 16 | distance; 0 without a match. */
  longest(at: number): number {
    const { input } = this;
    const most = Math.min(MAX_MATCH, input.length - at);
    if (most < MIN_MATCH) return 0;
    let [length, distance] = [MIN_MATCH - 1, 0];
    let other = this.heads[this.hash(at)] as number;
    for (let chain = 0; chain < MAX_CHAIN && other >= 0 && at - other < WINDOW_BYTES; chain++) {
      if (input[other + length] === input[at + length]) {
        let same = 0;
        while (same < most && input[other + same] === input[at + same]) same++;
        if (same > length) {
          [length, distance] = [same, at - other];
          if (same === most) break;
        }
      }
      other = this.previous[other] as number;
    }
    return distance === 0 ? 0 : (length << 16) | distance;
  }

  private hash(at: number): number {
    const { input } = this;
    const bytes = ((input[at] as number) << 16) | ((input[at + 1] as number) << 8) | (input[at + 2] as number);
    return Math.imul(bytes, 0x9e3779b1) >>> (32 - HASH_BITS);
  }
}

/** Calls back with the code of a literal or length, and with the code of the distance, or −1 for a literal. */
function forEachSymbol(
  symbols: Uint32Array,
  use: (code: number, lengthExtra: number, distanceCode: number, distanceExtra: number) => void,
): void {
  for (const symbol of symbols) {
    if (symbol <= END_OF_BLOCK) {
      use(symbol, 0, -1, 0);
      continue;
    }
    const [length, distance] = [symbol >>> 16, symbol & 0xffff];
    const lengthCode = LENGTH_CODE[length] as number;
    const distanceCode = codeOf(DISTANCES, distance);
    const lengthExtra = length - (LENGTHS.bases[lengthCode] as number);
    use(257 + lengthCode, lengthExtra, distanceCode, distance - (DISTANCES.bases[distanceCode] as number));
  }
}

function codeOf({ bases }: ExtraBits, value: number): number {
  let [low, high] = [0, bases.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((bases[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

const LENGTH_CODE: Uint8Array = Uint8Array.from({ length: MAX_MATCH + 1 }, (_, length) => codeOf(LENGTHS, length));

/** The length of each symbol's Huffman code, at most `maxBits`; 0 for a symbol that does not occur. */
function codeLengths(frequencies: Uint32Array, maxBits: number): Uint8Array {
  const lengths = new Uint8Array(frequencies.length);
  const used = [...frequencies.keys()].filter((symbol) => frequencies[symbol] !== 0);
  // A decoder needs at least two codes for a complete tree.
  for (let symbol = 0; used.length < 2; symbol++) if (!used.includes(symbol)) used.push(symbol);
  let weights = used.map((symbol) => Math.max(1, frequencies[symbol] as number));
  for (;;) {
    const depths = treeDepths(weights);
    if (Math.max(...depths) <= maxBits) {
      used.forEach((symbol, index) => (lengths[symbol] = depths[index] as number));
      return lengths;
    }
    // Flattens the tree until the deepest code fits.
    weights = weights.map((weight) => (weight >>> 1) | 1);
  }
}

/** The depth of each leaf of the Huffman tree. */
function treeDepths(weights: readonly number[]): number[] {
  const leaves = [...weights.keys()].sort((a, b) => (weights[a] as number) - (weights[b] as number));
  const count = leaves.length;
  const nodeWeights: number[] = leaves.map((leaf) => weights[leaf] as number);
  const parents: number[] = [];
  // Two sorted queues: the leaves, and the inner nodes in order of creation.
  let [leaf, inner] = [0, count];
  const lightest = (): number =>
    leaf < count && (inner >= nodeWeights.length || (nodeWeights[leaf] as number) <= (nodeWeights[inner] as number))
      ? leaf++
      : inner++;
  for (let node = count; node < 2 * count - 1; node++) {
    const [a, b] = [lightest(), lightest()];
    nodeWeights.push((nodeWeights[a] as number) + (nodeWeights[b] as number));
    parents[a] = node;
    parents[b] = node;
  }
  const depthOfNode: number[] = [];
  depthOfNode[2 * count - 2] = 0;
  for (let node = 2 * count - 3; node >= 0; node--)
    depthOfNode[node] = (depthOfNode[parents[node] as number] as number) + 1;
  const depths: number[] = [];
  leaves.forEach((symbol, index) => (depths[symbol] = depthOfNode[index] as number));
  return depths;
}

/** Canonical codes with the first bit lowest, as in the stream. */
function codesOf(lengths: Uint8Array): Uint16Array {
  const codes = new Uint16Array(lengths.length);
  let code = 0;
  for (let bits = 1; bits <= MAX_CODE_BITS; bits++) {
    code <<= 1;
    for (let symbol = 0; symbol < lengths.length; symbol++)
      if (lengths[symbol] === bits) codes[symbol] = reversed(code++, bits);
  }
  return codes;
}

function reversed(code: number, bits: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result |= ((code >>> bit) & 1) << (bits - 1 - bit);
  return result;
}

function writeCodeLengths(out: BitWriter, literals: Uint8Array, distances: Uint8Array): void {
  const literalCount = Math.max(257, literals.findLastIndex((length) => length > 0) + 1);
  const distanceCount = Math.max(1, distances.findLastIndex((length) => length > 0) + 1);
  const runs = runsOf([...literals.subarray(0, literalCount), ...distances.subarray(0, distanceCount)]);
  const frequencies = new Uint32Array(CODE_LENGTH_ORDER.length);
  for (const { symbol } of runs) (frequencies[symbol] as number)++;
  const lengths = codeLengths(frequencies, MAX_CODE_LENGTH_BITS);
  const codes = codesOf(lengths);
  const order = CODE_LENGTH_ORDER.map((symbol) => lengths[symbol] as number);
  const orderCount = Math.max(4, order.findLastIndex((length) => length > 0) + 1);
  out.bits(literalCount - 257, 5);
  out.bits(distanceCount - 1, 5);
  out.bits(orderCount - 4, 4);
  for (const length of order.slice(0, orderCount)) out.bits(length, 3);
  for (const { symbol, extra, extraBits } of runs) {
    out.bits(codes[symbol] as number, lengths[symbol] as number);
    out.bits(extra, extraBits);
  }
}

/** Code lengths, with shortened runs of zeros. */
function runsOf(lengths: readonly number[]): { symbol: number; extra: number; extraBits: number }[] {
  const runs: { symbol: number; extra: number; extraBits: number }[] = [];
  for (let at = 0; at < lengths.length;) {
    let zeros = 0;
    while (zeros < 138 && at + zeros < lengths.length && lengths[at + zeros] === 0) zeros++;
    if (zeros < 3) runs.push({ symbol: lengths[at++] as number, extra: 0, extraBits: 0 });
    else {
      runs.push(
        zeros < 11 ? { symbol: 17, extra: zeros - 3, extraBits: 3 } : { symbol: 18, extra: zeros - 11, extraBits: 7 },
      );
      at += zeros;
    }
  }
  return runs;
}

/** Writes bits, lowest first. */
class BitWriter {
  private buffer: Uint8Array<ArrayBuffer>;
  private length = 0;
  private pending = 0;
  private pendingBits = 0;

  constructor(sizeBytes: number) {
    this.buffer = new Uint8Array(sizeBytes + 512);
  }

  /** Writes at most 16 bits. */
  bits(value: number, count: number): void {
    this.pending |= value << this.pendingBits;
    this.pendingBits += count;
    while (this.pendingBits >= 8) {
      this.byte(this.pending & 0xff);
      this.pending >>>= 8;
      this.pendingBits -= 8;
    }
  }

  finish(): Uint8Array<ArrayBuffer> {
    if (this.pendingBits > 0) this.byte(this.pending & 0xff);
    return this.buffer.slice(0, this.length);
  }

  private byte(value: number): void {
    if (this.length === this.buffer.length) {
      const larger = new Uint8Array(2 * this.buffer.length);
      larger.set(this.buffer);
      this.buffer = larger;
    }
    this.buffer[this.length++] = value;
  }
}
