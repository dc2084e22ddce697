import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import type { ChangeGroup } from '../change/changeset.ts';
import { readGroups, writeGroups } from '../change/changeset-codec.ts';

/** A table that differs between the two sides. */
export interface DifferingTable {
  readonly tableId: number;
  /**
   * The ranges whose rows follow. Others may differ too, and the next audit finds them. Empty if the audit asked about
   * the table as a whole. If every range that differs is too large for a message, the only entry is the number of
   * ranges, an index into which no row falls: the client then repairs nothing, and a full resync follows.
   */
  readonly ranges: readonly number[];
}

/** Server to client: the result of an audit. */
export interface AuditAnswer {
  readonly type: 'audit-answer';
  /** The watermark of the comparison. */
  readonly cursor: number;
  /** False if nothing was compared, because the log was not at that watermark or had advanced beyond it. */
  readonly compared: boolean;
  readonly differing: readonly DifferingTable[];
  /** All rows of these ranges, as inserts. */
  readonly groups: readonly ChangeGroup[];
}

export function writeAuditAnswer(writer: ByteWriter, { cursor, compared, differing, groups }: AuditAnswer): void {
  writer.varint(cursor);
  writer.u8(compared ? 1 : 0);
  writer.varint(differing.length);
  for (const { tableId, ranges } of differing) {
    writer.u32(tableId);
    writer.varint(ranges.length);
    for (const range of ranges) writer.varint(range);
  }
  writeGroups(writer, groups);
}

export function readAuditAnswer(reader: ByteReader): AuditAnswer {
  const cursor = reader.varint();
  const compared = reader.flag();
  const differing: DifferingTable[] = [];
  const tableCount = reader.count(5);
  for (let t = 0; t < tableCount; t++) {
    const tableId = reader.u32();
    const ranges: number[] = [];
    const rangeCount = reader.count(1);
    for (let r = 0; r < rangeCount; r++) ranges.push(reader.varint());
    differing.push({ tableId, ranges });
  }
  const groups = readGroups(reader);
  if (groups.some(({ kind }) => kind !== 'insert')) reader.fail('the audit rows are not all inserts');
  return { type: 'audit-answer', cursor, compared, differing, groups };
}
