import { RockpoolError } from '@rockpool/shared';
import type { Pointer, SqliteModule } from './emscripten-module.ts';

// Texts and blobs up to this size are written into one reused area, from which SQLite copies them. Larger ones are
// handed over to SQLite.
const SCRATCH_BYTES = 64 * 1024;
// Up to this length a loop over characters beats the fixed cost of TextEncoder and TextDecoder, 0.2 to 0.4 µs a call in
// Chromium. The text of a UUID is shorter.
const SHORT_TEXT_LENGTH = 40;

const textEncoder = new TextEncoder();
// `ignoreBOM`: a leading U+FEFF is part of the text, not a mark to drop.
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/**
 * Reads and writes the module's memory. Any call into the module may grow the memory and replace its buffer: `bytes` is
 * always the current view, and callers must not keep it across such a call.
 */
export class WasmMemory {
  private readonly module: SqliteModule;
  private view: Uint8Array;
  private readonly scratch: Pointer;
  /** Number of bytes that the last `writeText` wrote. A field, so that the hot path returns no object. */
  writtenBytes = 0;

  constructor(module: SqliteModule) {
    this.module = module;
    this.view = module.HEAPU8;
    this.scratch = this.allocate(SCRATCH_BYTES);
  }

  get bytes(): Uint8Array {
    // A replaced buffer is detached and has length 0.
    if (this.view.length === 0) this.view = this.module.HEAPU8;
    return this.view;
  }

  allocate(sizeBytes: number): Pointer {
    const address = this.module._sqlite3_malloc(Math.max(sizeBytes, 1));
    if (address === 0) throw new RockpoolError('internal', { problem: 'SQLite is out of memory', sizeBytes });
    return address;
  }

  free(address: Pointer): void {
    this.module._sqlite3_free(address);
  }

  /**
   * Allocates a NUL-terminated copy, which the caller frees. For names and SQL only: text that contains NUL would be
   * cut.
   */
  allocateCString(text: string): Pointer {
    const encoded = textEncoder.encode(text);
    const address = this.allocate(encoded.length + 1);
    const bytes = this.bytes;
    bytes.set(encoded, address);
    bytes[address + encoded.length] = 0;
    return address;
  }

  readPointer(address: Pointer): number {
    const bytes = this.bytes;
    const low =
      (bytes[address] as number) | ((bytes[address + 1] as number) << 8) | ((bytes[address + 2] as number) << 16);
    return (low | ((bytes[address + 3] as number) << 24)) >>> 0;
  }

  readCString(address: Pointer): string {
    if (address === 0) return '';
    const bytes = this.bytes;
    let end = address;
    while (bytes[end] !== 0) end++;
    return this.readText(address, end - address);
  }

  /** Decodes UTF-8; invalid bytes become U+FFFD. */
  readText(address: Pointer, sizeBytes: number): string {
    return this.decode(lenientDecoder, address, sizeBytes);
  }

  /** Decodes UTF-8 exactly. Throws a TypeError for invalid bytes. */
  readExactText(address: Pointer, sizeBytes: number): string {
    return this.decode(strictDecoder, address, sizeBytes);
  }

  private decode(decoder: TextDecoder, address: Pointer, sizeBytes: number): string {
    const bytes = this.bytes;
    const end = address + sizeBytes;
    if (sizeBytes > SHORT_TEXT_LENGTH) return decoder.decode(bytes.subarray(address, end));
    let text = '';
    for (let at = address; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte > 0x7f) return decoder.decode(bytes.subarray(address, end));
      text += String.fromCharCode(byte);
    }
    return text;
  }

  copyBytes(address: Pointer, sizeBytes: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes.subarray(address, address + sizeBytes));
  }

  /**
   * Writes UTF-8 and returns its address: in the scratch area, valid until the next write, or, if it does not fit
   * there, in memory that SQLite must free. Throws `value-invalid` for a lone surrogate, which has no UTF-8 form.
   */
  writeText(text: string): Pointer {
    const length = text.length;
    const bytes = this.bytes;
    const scratch = this.scratch;
    if (length <= SHORT_TEXT_LENGTH) {
      let at = 0;
      for (; at < length; at++) {
        const unit = text.charCodeAt(at);
        if (unit > 0x7f) break;
        bytes[scratch + at] = unit;
      }
      if (at === length) {
        this.writtenBytes = length;
        return scratch;
      }
    }
    // One UTF-16 unit takes at most three bytes.
    if (length * 3 <= SCRATCH_BYTES) {
      const { written } = textEncoder.encodeInto(text, bytes.subarray(scratch, scratch + SCRATCH_BYTES));
      if (written !== length) requireWellFormed(text);
      this.writtenBytes = written;
      return scratch;
    }
    requireWellFormed(text);
    return this.writeBytes(textEncoder.encode(text));
  }

  /** Like `writeText`, for bytes. */
  writeBytes(value: Uint8Array): Pointer {
    const address = value.length <= SCRATCH_BYTES ? this.scratch : this.allocate(value.length);
    this.bytes.set(value, address);
    this.writtenBytes = value.length;
    return address;
  }

  isScratch(address: Pointer): boolean {
    return address === this.scratch;
  }
}

function requireWellFormed(text: string): void {
  if (!text.isWellFormed()) throw new RockpoolError('value-invalid', { problem: 'text-surrogate' });
}
