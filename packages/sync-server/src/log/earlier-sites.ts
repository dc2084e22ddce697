import type { EarlierSite } from '@rockpool/shared';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/** What the author of a push wrote as an earlier site of its file. */
export interface KnownEarlierSite {
  /** 32 hex digits. */
  readonly site: string;
  /** The watermark and the corrected stamp of the last changeset that the author wrote as that site. */
  readonly watermark: number;
  readonly stampUs: number;
  /** See EarlierSite. */
  readonly upTo: number;
}

/**
 * A device rarely has more rejected changesets in a row. Without a limit, a hostile client could make the server read
 * millions of rejections with each small push.
 */
const MAX_REJECTED_IN_A_ROW = 1_000;

/**
 * Finds the last admitted changeset up to the one that each earlier site names. The hash proves that the author wrote
 * exactly these changesets: a copy of its file may have sent others as the same site. A changeset that is not decided
 * here, or was decided so long ago that its hash is gone, is left out; its site then counts as another author. So does
 * a site whose last MAX_REJECTED_IN_A_ROW changesets were rejected.
 */
export function findEarlierSites(sql: SqliteFile, sites: readonly EarlierSite[] = []): readonly KnownEarlierSite[] {
  return sites.flatMap(({ last: { siteId, sequence, hash }, upTo }) => {
    const found = sql.get(
      `SELECT watermark, stamp_us FROM rockpool_site JOIN rockpool_outcome AS decided ON decided.site_number = number
         JOIN rockpool_log USING (watermark)
       WHERE site = ?1 AND decided.sequence <= ?2 AND decided.sequence > ?2 - ${MAX_REJECTED_IN_A_ROW}
         AND EXISTS (SELECT 1 FROM rockpool_outcome WHERE site_number = number AND sequence = ?2 AND hash = ?3)
       ORDER BY decided.sequence DESC LIMIT 1`,
      siteId,
      BigInt(sequence),
      hash,
    );
    if (found === undefined) return [];
    const [watermark, stampUs] = found.map(Number) as [number, number];
    return { site: Buffer.from(siteId).toString('hex'), watermark, stampUs, upTo };
  });
}
