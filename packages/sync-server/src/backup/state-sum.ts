/**
 * A sum over the pages of a database file: 64 bits that are the same for the same pages, in whatever order they were
 * added. Two halves, because JavaScript multiplies 32-bit numbers fast.
 */
export class StateSum {
  private high: number;
  private low: number;

  constructor(hex: string = '0000000000000000') {
    this.high = Number.parseInt(hex.slice(0, 8), 16) | 0;
    this.low = Number.parseInt(hex.slice(8), 16) | 0;
  }

  /** Adds a page, or removes one that was added. `sum` is its CRC-32 (page-sums.ts). */
  toggle(page: number, sum: number): void {
    this.high ^= mix(Math.imul(page, 0x9e3779b1) ^ sum, 0x85ebca6b);
    this.low ^= mix(Math.imul(page, 0xc2b2ae3d) + sum, 0x27d4eb2f);
  }

  /** 16 digits. */
  toHex(): string {
    return [this.high, this.low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

/** The finalizer of MurmurHash3, with a different second factor for each half. */
function mix(value: number, factor: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, factor);
  return mixed ^ (mixed >>> 16);
}
