import { createHash } from 'node:crypto';

/** A stream of bytes that looks random and follows from a text. */
export class SeededBytes {
  private readonly from: string;
  private block: Uint8Array = new Uint8Array();
  private blocks = 0;

  constructor(from: string) {
    this.from = from;
  }

  fill(into: Uint8Array): void {
    for (let to = 0; to < into.length;) {
      if (this.block.length === 0)
        this.block = createHash('sha256')
          .update(`${this.from} ${this.blocks++}`)
          .digest();
      const part = this.block.subarray(0, into.length - to);
      into.set(part, to);
      to += part.length;
      this.block = this.block.subarray(part.length);
    }
  }

  /** A number in [0, 1). */
  fraction(): number {
    const drawn = new Uint32Array(2);
    this.fill(new Uint8Array(drawn.buffer));
    // The 53 bits of a double.
    return ((drawn[0] as number) * 2 ** 21 + ((drawn[1] as number) >>> 11)) / 2 ** 53;
  }

  /** A UUID of version 4. */
  uuid(): `${string}-${string}-${string}-${string}-${string}` {
    const drawn = Buffer.alloc(16);
    this.fill(drawn);
    drawn[6] = ((drawn[6] as number) & 0x0f) | 0x40;
    drawn[8] = ((drawn[8] as number) & 0x3f) | 0x80;
    const part = (from: number, to: number): string => drawn.toString('hex', from, to);
    return `${part(0, 4)}-${part(4, 6)}-${part(6, 8)}-${part(8, 10)}-${part(10, 16)}`;
  }
}
