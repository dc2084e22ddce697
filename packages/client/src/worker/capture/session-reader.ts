import { RockpoolError, type CellValue } from '@rockpool/shared';
import type { CaptureTable } from './capture-table.ts';
import type { ChangeCollector } from './captured-changes.ts';
import { requireSendable } from './sendable-value.ts';

/*
 * SQLite's session changeset, as its source documents it (ext/session/sqlite3session.c, "RECORD FORMAT" and "CHANGESET FORMAT"):
 *
 *   for each table: 'T', varint number of columns, one byte per column (0: not in the key), the name, NUL
 *   then its rows:  op byte (18 insert, 23 update, 9 delete), indirect byte, and
 *     insert: new record     delete: old record
 *     update: old record (key, and changed columns), new record (changed columns)
 *   a record: for each column a type byte, then
 *     0 nothing: not there   1 integer, 8 bytes   2 real, 8 bytes   3 text, 4 blob: varint length, bytes   5 NULL
 *   All numbers big-endian; a varint is SQLite's: 7 bits a byte, the high ones first, the high bit set on all but the last.
 *
 * It is positional, and it is read at once, on the connection that made it: nothing here has to survive a change of the schema.
 * A changed key comes as a delete and an insert.
 */
const OP_INSERT = 18;
const OP_UPDATE = 23;
const OP_DELETE = 9;
const TABLE_HEADER = 0x54;

const NOTHING = 0;
const INTEGER = 1;
const REAL = 2;
const TEXT = 3;
const BLOB = 4;
const NULL = 5;

// Below this a loop beats TextDecoder's fixed cost.
const SHORT_TEXT_BYTES = 32;

// `ignoreBOM`: a leading U+FEFF is part of the text, not a mark to drop.
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Adds the rows of a session's changeset to `collector`. Throws `value-invalid` when a new value can never be sent. */
export function readSession(bytes: Uint8Array, tablesByName: ReadonlyMap<string, CaptureTable>, collector: ChangeCollector): void {
  const reader = new SessionReader(bytes);
  while (reader.hasMore) {
    reader.expectTableHeader();
    const columnCount = reader.varint();
    reader.skip(columnCount);
    const name = reader.name();
    const table = tablesByName.get(name);
    if (table === undefined) throw new RockpoolError('internal', { problem: 'session recorded another table', table: name });
    while (reader.hasRow) readRow(reader, table, columnCount, collector);
  }
}

function readRow(reader: SessionReader, table: CaptureTable, columnCount: number, collector: ChangeCollector): void {
  const op = reader.byte();
  reader.skip(1);
  if (op === OP_INSERT) collector.insert(table, complete(reader.newRecord(columnCount, table)));
  else if (op === OP_DELETE) collector.delete(table, complete(reader.oldRecord(columnCount)));
  else if (op === OP_UPDATE) {
    const before = reader.oldRecord(columnCount);
    collector.update(table, before, reader.newRecord(columnCount, table));
  } else throw new RockpoolError('internal', { problem: 'unknown operation in a session', op });
}

function complete(record: (CellValue | undefined)[]): CellValue[] {
  if (record.includes(undefined)) throw new RockpoolError('internal', { problem: 'a session left out a value' });
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
    return this.bytes[this.at++] as number;
  }

  skip(count: number): void {
    this.at += count;
  }

  expectTableHeader(): void {
    const byte = this.byte();
    if (byte !== TABLE_HEADER) throw new RockpoolError('internal', { problem: 'unknown header in a session', byte });
  }

  varint(): number {
    let value = 0;
    for (;;) {
      const byte = this.byte();
      value = value * 0x80 + (byte & 0x7f);
      if (byte < 0x80) return value;
    }
  }

  name(): string {
    const end = this.bytes.indexOf(0, this.at);
    const name = strictDecoder.decode(this.bytes.subarray(this.at, end));
    this.at = end + 1;
    return name;
  }

  oldRecord(columnCount: number): (CellValue | undefined)[] {
    const record = new Array<CellValue | undefined>(columnCount);
    for (let i = 0; i < columnCount; i++) record[i] = this.value(lenientDecoder);
    return record;
  }

  /** Every new value has to be one that can be sent. */
  newRecord(columnCount: number, table: CaptureTable): (CellValue | undefined)[] {
    const record = new Array<CellValue | undefined>(columnCount);
    for (let i = 0; i < columnCount; i++) {
      const column = table.columns[i]?.name ?? '';
      const value = this.valueOf(table, column);
      if (value !== undefined) requireSendable(value, table.schema.name, column);
      record[i] = value;
    }
    return record;
  }

  private valueOf(table: CaptureTable, column: string): CellValue | undefined {
    try {
      return this.value(strictDecoder);
    } catch (cause) {
      // The only thing that a strict decoder throws.
      if (!(cause instanceof TypeError)) throw cause;
      throw new RockpoolError('value-invalid', { problem: 'text-not-utf8', table: table.schema.name, column });
    }
  }

  private value(decoder: TextDecoder): CellValue | undefined {
    switch (this.byte()) {
      case NOTHING:
        return undefined;
      case INTEGER:
        return this.integer();
      case REAL:
        this.at += 8;
        return this.view.getFloat64(this.at - 8);
      case TEXT:
        return this.text(decoder);
      case BLOB: {
        const sizeBytes = this.varint();
        this.at += sizeBytes;
        return this.bytes.slice(this.at - sizeBytes, this.at);
      }
      case NULL:
        return null;
      default:
        throw new RockpoolError('internal', { problem: 'unknown type in a session' });
    }
  }

  private integer(): bigint {
    const high = this.view.getInt32(this.at);
    const low = this.view.getUint32(this.at + 4);
    this.at += 8;
    // Within 53 bits by way of a number: several times faster than BigInt arithmetic.
    return high >= -0x20_0000 && high < 0x20_0000 ? BigInt(high * 0x1_0000_0000 + low) : this.view.getBigInt64(this.at - 8);
  }

  private text(decoder: TextDecoder): string {
    const sizeBytes = this.varint();
    const start = this.at;
    const end = start + sizeBytes;
    this.at = end;
    if (sizeBytes <= SHORT_TEXT_BYTES) {
      let text = '';
      let at = start;
      for (; at < end; at++) {
        const byte = this.bytes[at] as number;
        if (byte > 0x7f) break;
        text += String.fromCharCode(byte);
      }
      if (at === end) return text;
    }
    return decoder.decode(this.bytes.subarray(start, end));
  }
}
