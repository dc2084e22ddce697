import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { bytesToHex } from '../bytes/bytes-to-hex.ts';
import type { CellValue } from '../change/cell-value.ts';
import type { ChangeKind } from '../change/changeset.ts';
import { readTagged, writeTagged } from '../change/column-codec.ts';

/* The server's responses about the history of a row, as bytes. */

/** A column that a version changed. */
export interface VersionChange {
  readonly columnId: number;
  /** The values of a document are omitted (`null`), because they may be large: request the row at the version. */
  readonly values: { readonly before: CellValue; readonly after: CellValue } | null;
}

/** The effect of one admitted changeset on a row. */
export interface StoredRowVersion {
  /** Identifies the version: the watermark of the changeset. */
  readonly watermark: number;
  readonly kind: ChangeKind;
  /** 32 hex digits. */
  readonly site: string;
  /** The number of the changeset at its site. */
  readonly sequence: number;
  readonly principal: string;
  /** The corrected time of writing, in ms since 1970. */
  readonly writtenMs: number;
  /** When the server received it, in ms since 1970. */
  readonly receivedMs: number;
  /** For an insert, all columns, with NULL before; for a delete, all columns, with NULL after. */
  readonly changes: readonly VersionChange[];
}

export interface HistoryPage {
  /** Newest first. */
  readonly versions: readonly StoredRowVersion[];
  /** The next page begins below this watermark. Null if this is the last one. */
  readonly nextBefore: number | null;
  /** Whether versions older than those of this page and all following pages were never kept or have been pruned. */
  readonly isTruncated: boolean;
  /** The columns of the table that were added since the log began. */
  readonly laterColumns: readonly LaterColumn[];
}

/** A column that a migration added. */
export interface LaterColumn {
  readonly columnId: number;
  /** The last watermark at which the column did not exist. */
  readonly until: number;
}

/** A row at one of its versions, by column id, without columns that did not exist. Null if the row did not exist. */
export type RowAtVersion = ReadonlyMap<number, CellValue> | null;

/** Format 1 has no `laterColumns`. It is the only format that older clients can read. */
export type HistoryPageFormat = 1 | 2;

const FORMAT = 1;
const KINDS: readonly ChangeKind[] = ['insert', 'update', 'delete'];
const SITE_BYTES = 16;

export function encodeHistoryPage(
  { versions, nextBefore, isTruncated, laterColumns }: HistoryPage,
  format: HistoryPageFormat,
): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u8(format);
  writer.u8(isTruncated ? 1 : 0);
  writer.varint(nextBefore ?? 0);
  writer.varint(versions.length);
  for (const { watermark, kind, site, sequence, principal, writtenMs, receivedMs, changes } of versions) {
    writer.varint(watermark);
    writer.u8(KINDS.indexOf(kind));
    for (let at = 0; at < SITE_BYTES; at++) writer.u8(parseInt(site.slice(2 * at, 2 * at + 2), 16));
    writer.varint(sequence);
    writer.text(principal);
    writer.varint(writtenMs);
    writer.varint(receivedMs);
    writer.varint(changes.length);
    for (const { columnId, values } of changes) {
      writer.u32(columnId);
      writer.u8(values === null ? 0 : 1);
      if (values === null) continue;
      writeTagged(writer, values.before);
      writeTagged(writer, values.after);
    }
  }
  if (format === 2) {
    writer.varint(laterColumns.length);
    for (const { columnId, until } of laterColumns) {
      writer.u32(columnId);
      writer.varint(until);
    }
  }
  return writer.finish();
}

/** Throws `frame-invalid` for anything but a page of a known format. */
export function decodeHistoryPage(bytes: Uint8Array): HistoryPage {
  const reader = new ByteReader(bytes, 'frame-invalid');
  const format = reader.u8();
  if (format !== 1 && format !== 2) reader.fail('the format is unknown');
  const isTruncated = reader.u8() === 1;
  const nextBefore = reader.varint();
  const versions: StoredRowVersion[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    const watermark = reader.varint();
    const kind = KINDS[reader.u8()] ?? reader.fail('an entry has an unknown kind');
    const site = bytesToHex(reader.bytes(SITE_BYTES));
    const sequence = reader.varint();
    const principal = reader.text();
    const writtenMs = reader.varint();
    const receivedMs = reader.varint();
    const changes: VersionChange[] = [];
    for (let more = reader.varint(); more > 0; more--) {
      const columnId = reader.u32();
      const values = reader.u8() === 0 ? null : { before: readTagged(reader), after: readTagged(reader) };
      changes.push({ columnId, values });
    }
    versions.push({ watermark, kind, site, sequence, principal, writtenMs, receivedMs, changes });
  }
  const laterColumns: LaterColumn[] = [];
  if (format === 2)
    for (let left = reader.varint(); left > 0; left--)
      laterColumns.push({ columnId: reader.u32(), until: reader.varint() });
  reader.expectEnd();
  return { versions, nextBefore: nextBefore === 0 ? null : nextBefore, isTruncated, laterColumns };
}

export function encodeRowAtVersion(row: RowAtVersion): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u8(FORMAT);
  writer.u8(row === null ? 0 : 1);
  for (const [columnId, value] of row ?? []) {
    writer.u32(columnId);
    writeTagged(writer, value);
  }
  return writer.finish();
}

/** Throws `frame-invalid` for anything but a row of this format. */
export function decodeRowAtVersion(bytes: Uint8Array): RowAtVersion {
  const reader = new ByteReader(bytes, 'frame-invalid');
  if (reader.u8() !== FORMAT) reader.fail('the format is unknown');
  const row = reader.u8() === 0 ? null : new Map<number, CellValue>();
  if (row !== null) while (reader.remaining > 0) row.set(reader.u32(), readTagged(reader));
  reader.expectEnd();
  return row;
}
