import type { DatabaseFile } from '../store/database-file.ts';

export interface ChangedRow {
  readonly tableId: number;
  readonly keyBytes: Uint8Array;
  /** As row-version-codec.ts packs them. */
  readonly versions: Uint8Array;
}

/** The rows above watermarks, each watermark read once: after a commit nearly all readers stand at the same one. Of use until the next commit. */
export class ChangedRows {
  private readonly file: DatabaseFile;
  private readonly byWatermark: Map<number, readonly ChangedRow[]> = new Map();

  constructor(file: DatabaseFile) {
    this.file = file;
  }

  /** In the order of their watermarks. */
  above(watermark: number): readonly ChangedRow[] {
    const known = this.byWatermark.get(watermark);
    if (known !== undefined) return known;
    const rows = this.file.sql
      .all(`SELECT table_id, key, versions FROM rockpool_row_version WHERE watermark > ? ORDER BY watermark`, BigInt(watermark))
      .map(([tableId, keyBytes, versions]): ChangedRow => ({ tableId: Number(tableId), keyBytes: keyBytes as Uint8Array, versions: versions as Uint8Array }));
    this.byWatermark.set(watermark, rows);
    return rows;
  }
}
