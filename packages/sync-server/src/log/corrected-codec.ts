import { ByteReader, ByteWriter } from '@rockpool/shared';

/** A row in which the author's copy differs from the server's after the decision on its changeset. */
export interface CorrectedRow {
  readonly tableId: number;
  readonly keyBytes: Uint8Array;
  /** EXISTENCE_COLUMN_ID stands for the existence of the row. */
  readonly columnIds: readonly number[];
}

/* varint rows; each: u32 table id, key (length-prefixed), varint columns, u32 column id each */
export function encodeCorrected(rows: readonly CorrectedRow[]): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.varint(rows.length);
  for (const { tableId, keyBytes, columnIds } of rows) {
    writer.u32(tableId);
    writer.lengthPrefixed(keyBytes);
    writer.varint(columnIds.length);
    for (const columnId of columnIds) writer.u32(columnId);
  }
  return writer.finish();
}

/** Throws `storage-corrupt` for bytes that encodeCorrected does not produce. */
export function decodeCorrected(bytes: Uint8Array): CorrectedRow[] {
  const reader = new ByteReader(bytes, 'storage-corrupt');
  const rows: CorrectedRow[] = [];
  const rowCount = reader.count(6);
  for (let r = 0; r < rowCount; r++) {
    const tableId = reader.u32();
    const keyBytes = reader.lengthPrefixed();
    const columnIds: number[] = [];
    const columnCount = reader.count(4);
    for (let c = 0; c < columnCount; c++) columnIds.push(reader.u32());
    rows.push({ tableId, keyBytes, columnIds });
  }
  reader.expectEnd();
  return rows;
}
