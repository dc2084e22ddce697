import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { MAX_CHANGESET_CELLS, MAX_CHANGESET_ROWS } from '../protocol/limits.ts';
import type { CellValue } from './cell-value.ts';
import type { BeforeGroup, ChangeGroup, ChangeKind, ChangesetBody, CellBase } from './changeset.ts';
import { readColumn, writeColumn } from './column-codec.ts';
import { decodeKey, encodeKey } from './primary-key.ts';

/*
 * Changeset body, codec version 1 (all integers little-endian, varints as in ByteWriter):
 *   u8      codec version
 *   u8      flags: 1 atomic
 *   varint  number of groups, then each group
 *   varint  number of cell bases, then each: u32 table id, key (length-prefixed), u32 column id, varint base
 * Group:
 *   u8      kind: 1 insert, 2 update, 3 delete
 *   u32     table id
 *   varint  rows; varint key parts; varint columns; u32 column id each
 *   columns of the key, then of the values (column-codec.ts)
 * Tables and columns are named by ids (schema/identity.ts), so a body can be read without any schema and survives added
 * columns.
 */
const CODEC_VERSION = 1;
const ATOMIC = 1;
const KINDS: readonly ChangeKind[] = ['insert', 'update', 'delete'];

/** The number of rows and cells that may still follow. */
interface Room {
  readonly rows: number;
  readonly cells: number;
}

const ROOM_OF_CHANGESET: Room = { rows: MAX_CHANGESET_ROWS, cells: MAX_CHANGESET_CELLS };
const ANY_ROOM: Room = { rows: Infinity, cells: Infinity };

/** Encodes a body. Throws `changeset-too-large` for more rows or cells than readers accept. */
export function encodeChangesetBody(body: ChangesetBody): Uint8Array<ArrayBuffer> {
  let room = ROOM_OF_CHANGESET;
  for (const { rowCount, keys, columnIds } of body.groups)
    room = roomAfter(room, rowCount, keys.length + columnIds.length);
  const writer = new ByteWriter();
  writer.u8(CODEC_VERSION);
  writer.u8(body.atomic ? ATOMIC : 0);
  writeGroups(writer, body.groups);
  writer.varint(body.cellBases.length);
  for (const hidden of body.cellBases) {
    writer.u32(hidden.tableId);
    writer.lengthPrefixed(encodeKey(hidden.key));
    writer.u32(hidden.columnId);
    writer.varint(hidden.base);
  }
  return writer.finish();
}

/**
 * Decodes a body. Throws `changeset-invalid` for anything that encodeChangesetBody does not write, and
 * `changeset-too-large` for too many rows or cells.
 */
export function decodeChangesetBody(bytes: Uint8Array): ChangesetBody {
  const reader = new ByteReader(bytes, 'changeset-invalid');
  if (reader.u8() !== CODEC_VERSION) reader.fail('the codec version is unknown');
  const flags = reader.u8();
  if (flags > ATOMIC) reader.fail('the flags are unknown');
  const groups = readGroups(reader, ROOM_OF_CHANGESET);
  const cellBases: CellBase[] = [];
  const hiddenCount = reader.count(10);
  for (let i = 0; i < hiddenCount; i++) {
    cellBases.push({
      tableId: reader.u32(),
      key: decodeKey(reader.lengthPrefixed()),
      columnId: reader.u32(),
      base: reader.varint(),
    });
  }
  reader.expectEnd();
  return { atomic: flags === ATOMIC, groups, cellBases };
}

export function writeGroups(writer: ByteWriter, groups: readonly ChangeGroup[]): void {
  writer.varint(groups.length);
  for (const group of groups) {
    writer.u8(KINDS.indexOf(group.kind) + 1);
    writer.u32(group.tableId);
    writer.varint(group.rowCount);
    writer.varint(group.keys.length);
    writer.varint(group.columnIds.length);
    for (const columnId of group.columnIds) writer.u32(columnId);
    for (const part of group.keys) writeColumn(writer, part);
    for (const column of group.values) writeColumn(writer, column);
  }
}

export function readGroups(reader: ByteReader, room: Room = ANY_ROOM): ChangeGroup[] {
  const groups: ChangeGroup[] = [];
  const groupCount = reader.count(9);
  let left = room;
  for (let i = 0; i < groupCount; i++) {
    const group = readGroup(reader, left);
    left = roomAfter(left, group.rowCount, group.keys.length + group.columnIds.length);
    groups.push(group);
  }
  return groups;
}

function readGroup(reader: ByteReader, room: Room): ChangeGroup {
  const kind = KINDS[reader.u8() - 1];
  if (kind === undefined) return reader.fail('a change has an unknown kind');
  const tableId = reader.u32();
  // A key part takes at least one byte per row, so the rest of the input limits the number of rows.
  const rowCount = reader.count(1);
  const keyCount = reader.count(1);
  const columnCount = reader.count(4);
  roomAfter(room, rowCount, keyCount + columnCount);
  if (rowCount === 0 || keyCount === 0) reader.fail('a group has no rows or no key');
  if ((kind === 'delete') !== (columnCount === 0) && kind !== 'insert')
    reader.fail('the columns do not match the kind of change');
  const columnIds: number[] = [];
  for (let c = 0; c < columnCount; c++) columnIds.push(reader.u32());
  if (columnIds.includes(0) || new Set(columnIds).size !== columnIds.length)
    reader.fail('the column ids are not distinct');
  const keys: CellValue[][] = [];
  for (let k = 0; k < keyCount; k++) {
    const part = readColumn(reader, rowCount);
    if (part.includes(null)) reader.fail('a key contains NULL');
    keys.push(part);
  }
  const values: CellValue[][] = [];
  for (let c = 0; c < columnCount; c++) values.push(readColumn(reader, rowCount));
  return { tableId, kind, rowCount, keys, columnIds, values };
}

/** The rows and cells that may follow a group. Throws `changeset-too-large` if the group does not fit. */
function roomAfter({ rows, cells }: Room, rowCount: number, cellsPerRow: number): Room {
  const left = { rows: rows - rowCount, cells: cells - rowCount * cellsPerRow };
  if (left.rows < 0 || left.cells < 0)
    throw new RockpoolError('changeset-too-large', { limitRows: MAX_CHANGESET_ROWS, limitCells: MAX_CHANGESET_CELLS });
  return left;
}

/** Encodes old values for the changelog of the site: one BeforeGroup per group of the body, in order. */
export function encodeBefore(before: readonly BeforeGroup[]): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.u8(CODEC_VERSION);
  writer.varint(before.length);
  for (const group of before) {
    writer.varint(group.columnIds.length);
    for (const columnId of group.columnIds) writer.u32(columnId);
    for (const column of group.values) writeColumn(writer, column);
  }
  return writer.finish();
}

/** Decodes old values. `groups` are the decoded groups of the same body; they give the number of rows. */
export function decodeBefore(bytes: Uint8Array, groups: readonly ChangeGroup[]): BeforeGroup[] {
  const reader = new ByteReader(bytes, 'changeset-invalid');
  if (reader.u8() !== CODEC_VERSION) reader.fail('the codec version is unknown');
  if (reader.varint() !== groups.length) reader.fail('the old values do not match their changeset');
  const before = groups.map(({ rowCount }): BeforeGroup => {
    const columnCount = reader.count(4);
    const columnIds: number[] = [];
    for (let c = 0; c < columnCount; c++) columnIds.push(reader.u32());
    return { columnIds, values: columnIds.map(() => readColumn(reader, rowCount)) };
  });
  reader.expectEnd();
  return before;
}
