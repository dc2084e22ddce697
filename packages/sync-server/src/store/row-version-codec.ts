import { ByteReader, ByteWriter } from '@rockpool/shared';

/** A version as stored: the site is its number in rockpool_site. */
export interface StoredVersion {
  readonly watermark: number;
  readonly stampUs: number;
  readonly siteNumber: number;
}

export interface RowVersions {
  /** The watermark of the first insert with this key. A site with an earlier cursor has never had such a row. */
  readonly bornAt: number;
  readonly inserted: StoredVersion;
  /** The last update that revived the row, under `update-wins`. */
  readonly revived: StoredVersion | null;
  /** The last update of each site, only under `update-wins`. */
  readonly updated: readonly StoredVersion[];
  readonly deleted: StoredVersion | null;
  /** Versions of cells that were written after the insert. Every other cell has the version of the insert. */
  readonly cells: ReadonlyMap<number, StoredVersion>;
  /** For cells of counters: the last write by another site (shared/merge/row-model.ts). */
  readonly otherSites: ReadonlyMap<number, StoredVersion>;
}

const DELETED = 1;
const REVIVED = 2;
const UPDATED = 4;
const OTHER_SITES = 8;

/*
 * Packed versions of one row (varints as in ByteWriter). Most rows were written by one changeset, so each distinct
 * version is stored once and referred to by index.
 *   varint  bornAt
 *   varint  number of distinct versions; each: varint watermark, varint stampUs, varint site number
 *   varint  which is `inserted`
 *   u8      flags of what follows: 1 deleted, 2 revived, 4 updated, 8 other sites
 *   varint  which is `deleted`;  varint  which is `revived`;  varint  number of `updated`, and which, each
 *   varint  number of cells; each: u32 column id, varint which
 *   the same again for `other sites`
 */
export function encodeRowVersions({
  bornAt,
  inserted,
  revived,
  updated,
  deleted,
  cells,
  otherSites,
}: RowVersions): Uint8Array<ArrayBuffer> {
  const distinct: StoredVersion[] = [];
  const indexOf = (version: StoredVersion): number => {
    const at = distinct.findIndex(
      (other) => other.watermark === version.watermark && other.siteNumber === version.siteNumber,
    );
    return at >= 0 ? at : distinct.push(version) - 1;
  };
  const insertedAt = indexOf(inserted);
  const deletedAt = deleted === null ? null : indexOf(deleted);
  const revivedAt = revived === null ? null : indexOf(revived);
  const updatedAt = updated.map(indexOf);
  const cellsAt = [...cells].map(([columnId, version]) => [columnId, indexOf(version)] as const);
  const otherSitesAt = [...otherSites].map(([columnId, version]) => [columnId, indexOf(version)] as const);
  const writer = new ByteWriter();
  writer.varint(bornAt);
  writer.varint(distinct.length);
  for (const { watermark, stampUs, siteNumber } of distinct) {
    writer.varint(watermark);
    writer.varint(stampUs);
    writer.varint(siteNumber);
  }
  writer.varint(insertedAt);
  writer.u8(
    (deletedAt === null ? 0 : DELETED) |
      (revivedAt === null ? 0 : REVIVED) |
      (updatedAt.length === 0 ? 0 : UPDATED) |
      (otherSitesAt.length === 0 ? 0 : OTHER_SITES),
  );
  if (deletedAt !== null) writer.varint(deletedAt);
  if (revivedAt !== null) writer.varint(revivedAt);
  if (updatedAt.length > 0) writer.varint(updatedAt.length);
  for (const index of updatedAt) writer.varint(index);
  writeColumns(writer, cellsAt);
  if (otherSitesAt.length > 0) writeColumns(writer, otherSitesAt);
  return writer.finish();
}

function writeColumns(writer: ByteWriter, columns: readonly (readonly [columnId: number, at: number])[]): void {
  writer.varint(columns.length);
  for (const [columnId, at] of columns) {
    writer.u32(columnId);
    writer.varint(at);
  }
}

/** Throws `storage-corrupt` for bytes that encodeRowVersions does not produce. */
export function decodeRowVersions(bytes: Uint8Array): RowVersions {
  const reader = new ByteReader(bytes, 'storage-corrupt');
  const bornAt = reader.varint();
  const distinct: StoredVersion[] = [];
  const count = reader.count(3);
  for (let i = 0; i < count; i++)
    distinct.push({ watermark: reader.varint(), stampUs: reader.varint(), siteNumber: reader.varint() });
  const at = (index: number): StoredVersion =>
    distinct[index] ?? reader.fail('the index of a version is beyond the end');
  const inserted = at(reader.varint());
  const flags = reader.u8();
  if (flags > (DELETED | REVIVED | UPDATED | OTHER_SITES)) reader.fail('a version has unknown flags');
  const deleted = (flags & DELETED) === 0 ? null : at(reader.varint());
  const revived = (flags & REVIVED) === 0 ? null : at(reader.varint());
  const updated: StoredVersion[] = [];
  const updatedCount = (flags & UPDATED) === 0 ? 0 : reader.count(1);
  for (let i = 0; i < updatedCount; i++) updated.push(at(reader.varint()));
  const cells = readColumns(reader, at);
  const otherSites: ReadonlyMap<number, StoredVersion> =
    (flags & OTHER_SITES) === 0 ? new Map() : readColumns(reader, at);
  reader.expectEnd();
  return { bornAt, inserted, revived, updated, deleted, cells, otherSites };
}

function readColumns(reader: ByteReader, at: (index: number) => StoredVersion): Map<number, StoredVersion> {
  const columns = new Map<number, StoredVersion>();
  const count = reader.count(5);
  for (let i = 0; i < count; i++) columns.set(reader.u32(), at(reader.varint()));
  return columns;
}
