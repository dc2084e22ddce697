import type { EncodedColumn } from '../../rpc/rows-transfer.ts';
import type { SqlValue } from '../../rpc/sql-value.ts';
import type { SqliteModule } from './emscripten-module.ts';
import type { WasmMemory } from './wasm-memory.ts';

// The kinds and tags of sqlite/rows.c.
const NUMBER = 1;
const TEXT = 2;
const BLOB = 3;
const MIXED = 4;
const TAG_REAL = 1;
const TAG_INTEGER = 2;
const TAG_TEXT = 3;
const TAG_BLOB = 4;

/** Words of RpColumn in sqlite/rows.c. */
const COLUMN_WORDS = 10;

/** Up to this length a loop is faster than the view that a typed array's own copy needs. */
const SHORT_LENGTH = 8;

/** Rows in consecutive parts of one result. */
export interface StoredPart {
  readonly rowCount: number;
  readonly columns: readonly EncodedColumn[];
}

/**
 * The rows that a statement stored in SQLite's memory (sqlite/rows.c). There is one such buffer; the caller that stored
 * rows owns it until it has read them.
 */
export class StoredRows {
  private readonly memory: WasmMemory;
  /** Index of RpRows in 32-bit words. */
  private readonly at: number;
  private words: Uint32Array = new Uint32Array(0);
  private doubles: Float64Array = new Float64Array(0);
  private owner: { releaseRows(): void } | null = null;

  constructor(module: SqliteModule, memory: WasmMemory) {
    this.memory = memory;
    this.at = module._rockpool_rows() >> 2;
  }

  /** Whether the stored rows belong to `owner`. */
  belongTo(owner: { releaseRows(): void }): boolean {
    return this.owner === owner;
  }

  /** Transfers the memory to `owner`. The previous owner reads its rows first. */
  own(owner: { releaseRows(): void }): void {
    if (this.owner !== owner) this.owner?.releaseRows();
    this.owner = owner;
  }

  /** Forgets the rows. */
  release(): void {
    this.owner = null;
  }

  get rowCount(): number {
    return this.currentWords()[this.at] as number;
  }

  /** A count that rises whenever the statement is compiled again, which can change its columns. */
  get recompilations(): number {
    return this.currentWords()[this.at + 2] as number;
  }

  /** Copies the rows. */
  read(): StoredPart {
    const words = this.currentWords();
    const rowCount = words[this.at] as number;
    const columnCount = words[this.at + 1] as number;
    const first = (words[this.at + 3] as number) >> 2;
    const columns: EncodedColumn[] = [];
    for (let c = 0; c < columnCount; c++) columns.push(this.readColumn(first + c * COLUMN_WORDS, rowCount));
    return { rowCount, columns };
  }

  private readColumn(at: number, rowCount: number): EncodedColumn {
    const { words } = this;
    const kind = words[at] as number;
    const numbersAt = (words[at + 2] as number) >> 3;
    const bytesAt = words[at + 4] as number;
    if (kind === MIXED)
      return { kind: 'mixed', values: this.readMixed(words[at + 7] as number, numbersAt, bytesAt, rowCount) };
    if (kind !== NUMBER && kind !== TEXT && kind !== BLOB) return { kind: 'null' };
    const nulls = words[at + 1] === 0 ? null : this.memory.copyBytes(words[at + 6] as number, (rowCount + 7) >> 3);
    if (kind === NUMBER) {
      const values = new Float64Array(rowCount);
      copy(this.doubles, numbersAt, values);
      return { kind: 'number', values, nulls };
    }
    const ends = new Uint32Array(rowCount);
    copy(words, (words[at + 3] as number) >> 2, ends);
    const bytes = this.memory.copyBytes(bytesAt, words[at + 5] as number);
    return { kind: kind === TEXT ? 'text' : 'blob', bytes, ends, nulls };
  }

  private readMixed(tagsAt: number, numbersAt: number, bytesAt: number, rowCount: number): SqlValue[] {
    const { memory, words, doubles } = this;
    const tags = memory.bytes.subarray(tagsAt, tagsAt + rowCount);
    const values: SqlValue[] = [];
    for (let row = 0; row < rowCount; row++) {
      const low = words[(numbersAt + row) * 2] as number;
      const high = words[(numbersAt + row) * 2 + 1] as number;
      switch (tags[row]) {
        case TAG_REAL:
          values.push(doubles[numbersAt + row] as number);
          break;
        case TAG_INTEGER:
          values.push((BigInt(high | 0) << 32n) | BigInt(low));
          break;
        case TAG_TEXT:
          values.push(memory.readText(bytesAt + low, high));
          break;
        case TAG_BLOB:
          values.push(memory.copyBytes(bytesAt + low, high));
          break;
        default:
          values.push(null);
      }
    }
    return values;
  }

  /** The module's current memory: growing it replaces its buffer. */
  private currentWords(): Uint32Array {
    const { buffer } = this.memory.bytes;
    if (this.words.buffer !== buffer) {
      this.words = new Uint32Array(buffer);
      this.doubles = new Float64Array(buffer);
    }
    return this.words;
  }
}

function copy<T extends Float64Array | Uint32Array>(source: T, at: number, target: T): void {
  const { length } = target;
  if (length > SHORT_LENGTH) target.set(source.subarray(at, at + length));
  else for (let i = 0; i < length; i++) target[i] = source[at + i] as number;
}
