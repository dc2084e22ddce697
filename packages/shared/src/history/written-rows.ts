import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import type { CellValue } from '../change/cell-value.ts';
import { readTagged, writeTagged } from '../change/column-codec.ts';
import type { RowAtVersion } from './history-page.ts';

/** A row that the selected transactions changed. */
export interface WrittenRow {
  readonly tableId: number;
  /** See encodeKey. */
  readonly key: Uint8Array;
  /** The values after the last selected transaction, with documents as JSON. */
  readonly after: RowAtVersion;
  /**
   * The values without the writes of the selected transactions. Columns that they did not write have the value of
   * `after`.
   */
  readonly before: RowAtVersion;
}

/** The rows that some transactions changed, as the server stores them. */
export interface WrittenRows {
  /** The watermark of the last selected transaction; 0 if there is none. */
  readonly upTo: number;
  /** The number of transactions. */
  readonly count: number;
  readonly rows: readonly WrittenRow[];
}

const FORMAT = 1;

export function encodeWrittenRows({ upTo, count, rows }: WrittenRows): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u8(FORMAT);
  writer.varint(upTo);
  writer.varint(count);
  writer.varint(rows.length);
  for (const { tableId, key, after, before } of rows) {
    writer.u32(tableId);
    writer.varint(key.length);
    for (const byte of key) writer.u8(byte);
    writeRow(writer, after);
    writeRow(writer, before);
  }
  return writer.finish();
}

/** Throws `frame-invalid` for anything but rows of this format. */
export function decodeWrittenRows(bytes: Uint8Array): WrittenRows {
  const reader = new ByteReader(bytes, 'frame-invalid');
  if (reader.u8() !== FORMAT) reader.fail('the format is unknown');
  const upTo = reader.varint();
  const count = reader.varint();
  const rows: WrittenRow[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    const tableId = reader.u32();
    const key = reader.bytes(reader.varint());
    rows.push({ tableId, key, after: readRow(reader), before: readRow(reader) });
  }
  reader.expectEnd();
  return { upTo, count, rows };
}

function writeRow(writer: ByteWriter, row: RowAtVersion): void {
  writer.varint(row === null ? 0 : row.size + 1);
  for (const [columnId, value] of row ?? []) {
    writer.u32(columnId);
    writeTagged(writer, value);
  }
}

function readRow(reader: ByteReader): RowAtVersion {
  const size = reader.varint();
  if (size === 0) return null;
  const row = new Map<number, CellValue>();
  for (let left = size - 1; left > 0; left--) row.set(reader.u32(), readTagged(reader));
  return row;
}
