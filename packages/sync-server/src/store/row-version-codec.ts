import { ByteReader, ByteWriter } from '@rockpool/shared';

/** A version as it is stored: the site by its number in rockpool_site. */
export interface StoredVersion {
  readonly watermark: number;
  readonly stampUs: number;
  readonly siteNumber: number;
}

export interface RowVersions {
  /** Watermark of the first insert ever of this key: whoever is at an earlier watermark has never had such a row. */
  readonly bornAt: number;
  readonly inserted: StoredVersion;
  /** The update that brought the row back last, under `update-wins`. */
  readonly revived: StoredVersion | null;
  /** The last update of each site; only under `update-wins`. */
  readonly updated: readonly StoredVersion[];
  readonly deleted: StoredVersion | null;
  /** Cells that were written after the insert. Every other cell has the version of the insert. */
  readonly cells: ReadonlyMap<number, StoredVersion>;
}

/*
 * Packed versions of one row (varints as in ByteWriter): most rows were written by one changeset, so distinct versions stand once.
 *   varint  bornAt
 *   varint  number of distinct versions; each: varint watermark, varint stampUs, varint site number
 *   varint  which is `inserted`;  varint  which is `deleted` + 1, 0: none;  varint  which is `revived` + 1, 0: none
 *   varint  number of `updated`; varint which, each
 *   varint  number of cells; each: u32 column id, varint which
 */
export function encodeRowVersions({ bornAt, inserted, revived, updated, deleted, cells }: RowVersions): Uint8Array<ArrayBuffer> {
  const distinct: StoredVersion[] = [];
  const indexOf = (version: StoredVersion): number => {
    const at = distinct.findIndex((other) => other.watermark === version.watermark);
    return at >= 0 ? at : distinct.push(version) - 1;
  };
  const insertedAt = indexOf(inserted);
  const deletedAt = deleted === null ? 0 : indexOf(deleted) + 1;
  const revivedAt = revived === null ? 0 : indexOf(revived) + 1;
  const updatedAt = updated.map(indexOf);
  const cellsAt = [...cells].map(([columnId, version]) => [columnId, indexOf(version)] as const);
  const writer = new ByteWriter();
  writer.varint(bornAt);
  writer.varint(distinct.length);
  for (const { watermark, stampUs, siteNumber } of distinct) {
    writer.varint(watermark);
    writer.varint(stampUs);
    writer.varint(siteNumber);
  }
  writer.varint(insertedAt);
  writer.varint(deletedAt);
  writer.varint(revivedAt);
  writer.varint(updatedAt.length);
  for (const index of updatedAt) writer.varint(index);
  writer.varint(cellsAt.length);
  for (const [columnId, at] of cellsAt) {
    writer.u32(columnId);
    writer.varint(at);
  }
  return writer.finish();
}

/** Throws `storage-corrupt` for anything that encodeRowVersions does not write. */
export function decodeRowVersions(bytes: Uint8Array): RowVersions {
  const reader = new ByteReader(bytes, 'storage-corrupt');
  const bornAt = reader.varint();
  const distinct: StoredVersion[] = [];
  const count = reader.count(3);
  for (let i = 0; i < count; i++) distinct.push({ watermark: reader.varint(), stampUs: reader.varint(), siteNumber: reader.varint() });
  const at = (index: number): StoredVersion => distinct[index] ?? reader.fail('version index beyond the end');
  const inserted = at(reader.varint());
  const deletedAt = reader.varint();
  const revivedAt = reader.varint();
  const updated: StoredVersion[] = [];
  const updatedCount = reader.count(1);
  for (let i = 0; i < updatedCount; i++) updated.push(at(reader.varint()));
  const cells = new Map<number, StoredVersion>();
  const cellCount = reader.count(5);
  for (let i = 0; i < cellCount; i++) cells.set(reader.u32(), at(reader.varint()));
  reader.expectEnd();
  return { bornAt, inserted, revived: revivedAt === 0 ? null : at(revivedAt - 1), updated, deleted: deletedAt === 0 ? null : at(deletedAt - 1), cells };
}
