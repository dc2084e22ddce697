import { RockpoolError } from '../errors/rockpool-error.ts';
import type { CellValue } from './cell-value.ts';

/*
 * SQLite's session changeset, as documented in its source (ext/session/sqlite3session.c, "RECORD FORMAT" and "CHANGESET
 * FORMAT"):
 *
 *   for each table: 'T', varint number of columns, one byte per column (0: not in the key), the name, NUL
 *   then its rows:  op byte (18 insert, 23 update, 9 delete), indirect byte, and
 *     insert: new record     delete: old record
 *     update: old record (key, and changed columns), new record (changed columns)
 *   a record: for each column a type byte, then
 *     0 nothing: not there   1 integer, 8 bytes   2 real, 8 bytes   3 text, 4 blob: varint length, bytes   5 NULL
 * All numbers big-endian; a varint is SQLite's: 7 bits per byte, the high ones first, the high bit set on all but the
 *   last.
 *
 * Columns are identified by position, without generated ones. A changed key arrives as a delete and an insert.
 * Rockpool's own changesets (changeset-codec.ts) have a different format.
 */
const TABLE_HEADER = 0x54;
const OP_INSERT = 18;
const OP_UPDATE = 23;
const OP_DELETE = 9;

const NOTHING = 0;
const INTEGER = 1;
const REAL = 2;
const TEXT = 3;
const BLOB = 4;
const NULL = 5;

// Below this length, a loop is faster than TextDecoder's fixed cost.
const SHORT_TEXT_BYTES = 32;

// `ignoreBOM`: a leading U+FEFF is kept as part of the text.
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: false });
type Decoder = typeof strictDecoder;

/** A record of an update: undefined for each column that did not change. */
export type PartialRecord = readonly (CellValue | undefined)[];

/** Receives the rows of one table. Records are in the column order of the session. */
export interface SessionRowReader {
  insert(after: readonly CellValue[]): void;
  delete(before: readonly CellValue[]): void;
  /** `before` has the key and the changed columns, `after` the changed columns. */
  update(before: PartialRecord, after: PartialRecord): void;
  /** Returns the name of the column at a position, for errors. */
  columnName(position: number): string;
}

/**
 * Reads the rows of a session changeset in order. `rowsOf` is called once per table; `isKey` has a flag per column.
 *
 * Throws `value-invalid` for a new text that is not UTF-8, which SQLite stores but the protocol cannot carry, and
 * `internal` for bytes that SQLite does not write.
 */
export function readSessionChangeset(
  bytes: Uint8Array,
  rowsOf: (table: string, isKey: readonly boolean[]) => SessionRowReader,
): void {
  const reader = new SessionReader(bytes);
  while (reader.hasMore) {
    reader.expectTableHeader();
    const isKey = Array.from({ length: reader.count() }, () => false).map(() => reader.byte() > 0);
    const table = reader.name();
    const rows = rowsOf(table, isKey);
    while (reader.hasRow) readRow(reader, table, isKey.length, rows);
  }
}

function readRow(reader: SessionReader, table: string, columnCount: number, rows: SessionRowReader): void {
  const op = reader.byte();
  reader.byte(); // "indirect" marks the effect of a trigger or a foreign key, which is handled like any other change
  if (op === OP_INSERT) rows.insert(complete(newRecord(reader, table, columnCount, rows)));
  else if (op === OP_DELETE) rows.delete(complete(oldRecord(reader, columnCount)));
  else if (op === OP_UPDATE) {
    const before = oldRecord(reader, columnCount);
    rows.update(before, newRecord(reader, table, columnCount, rows));
  } else throw new RockpoolError('internal', { problem: 'a session changeset has an unknown operation', op });
}

function oldRecord(reader: SessionReader, columnCount: number): (CellValue | undefined)[] {
  const record: (CellValue | undefined)[] = [];
  for (let position = 0; position < columnCount; position++) record.push(reader.value(lenientDecoder));
  return record;
}

function newRecord(
  reader: SessionReader,
  table: string,
  columnCount: number,
  rows: SessionRowReader,
): (CellValue | undefined)[] {
  const record: (CellValue | undefined)[] = [];
  try {
    while (record.length < columnCount) record.push(reader.value(strictDecoder));
  } catch (cause) {
    // A strict decoder throws no other error.
    if (!(cause instanceof TypeError)) throw cause;
    throw new RockpoolError('value-invalid', {
      problem: 'text-not-utf8',
      table,
      column: rows.columnName(record.length),
    });
  }
  return record;
}

function complete(record: (CellValue | undefined)[]): CellValue[] {
  if (record.includes(undefined)) throw new RockpoolError('internal', { problem: 'a session changeset lacks a value' });
  return record as CellValue[];
}

class SessionReader {
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get hasMore(): boolean {
    return this.at < this.bytes.length;
  }

  get hasRow(): boolean {
    return this.hasMore && this.bytes[this.at] !== TABLE_HEADER;
  }

  byte(): number {
    return this.bytes[this.take(1)] as number;
  }

  expectTableHeader(): void {
    const byte = this.byte();
    if (byte !== TABLE_HEADER)
      throw new RockpoolError('internal', { problem: 'a session changeset has an unknown header', byte });
  }

  /** A count of items of at least a byte each. */
  count(): number {
    const count = this.varint();
    if (count > this.bytes.length - this.at) throw endsTooEarly();
    return count;
  }

  name(): string {
    const end = this.bytes.indexOf(0, this.at);
    if (end < 0) throw endsTooEarly();
    const start = this.take(end + 1 - this.at);
    return this.decode(lenientDecoder, start, end - start);
  }

  value(decoder: Decoder): CellValue | undefined {
    switch (this.byte()) {
      case NOTHING:
        return undefined;
      case INTEGER:
        return this.integer();
      case REAL:
        return this.view.getFloat64(this.take(8));
      case TEXT:
        return this.text(decoder);
      case BLOB: {
        const sizeBytes = this.varint();
        const start = this.take(sizeBytes);
        return this.bytes.slice(start, start + sizeBytes);
      }
      case NULL:
        return null;
      default:
        throw new RockpoolError('internal', { problem: 'a session changeset has a value of an unknown type' });
    }
  }

  private varint(): number {
    let value = 0;
    for (;;) {
      const byte = this.byte();
      value = value * 0x80 + (byte & 0x7f);
      if (byte < 0x80) return value;
    }
  }

  private integer(): bigint {
    const start = this.take(8);
    const high = this.view.getInt32(start);
    // Numbers within 53 bits avoid BigInt arithmetic, which is several times slower.
    return high >= -0x20_0000 && high < 0x20_0000
      ? BigInt(high * 0x1_0000_0000 + this.view.getUint32(start + 4))
      : this.view.getBigInt64(start);
  }

  private text(decoder: Decoder): string {
    const sizeBytes = this.varint();
    return this.decode(decoder, this.take(sizeBytes), sizeBytes);
  }

  private decode(decoder: Decoder, start: number, sizeBytes: number): string {
    return (
      (sizeBytes <= SHORT_TEXT_BYTES ? this.ascii(start, sizeBytes) : null) ??
      decoder.decode(this.bytes.subarray(start, start + sizeBytes))
    );
  }

  /** Null for text that is not ASCII. */
  private ascii(start: number, sizeBytes: number): string | null {
    let text = '';
    for (let at = start; at < start + sizeBytes; at++) {
      const byte = this.bytes[at] as number;
      if (byte > 0x7f) return null;
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** The offset of the next `count` bytes. Throws if the input ends earlier. */
  private take(count: number): number {
    const start = this.at;
    if (count > this.bytes.length - start) throw endsTooEarly();
    this.at += count;
    return start;
  }
}

function endsTooEarly(): RockpoolError {
  return new RockpoolError('internal', { problem: 'a session changeset ends too early' });
}
