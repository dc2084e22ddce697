import type { RowHistoryPage, RowVersion } from '@rockpool/client';

/** A row with a history, by table and key. */
export interface HistoryRow {
  readonly table: 'entries' | 'parts' | 'categories' | 'goals' | 'assignments';
  readonly key: string;
}

export interface RowChange {
  readonly row: HistoryRow;
  readonly version: RowVersion;
}

/** The effect of one transaction on several rows. */
export interface Moment {
  readonly id: string;
  /** Null while the server does not have it. */
  readonly version: number | null;
  readonly author: string | null;
  readonly writtenMs: number;
  readonly changes: readonly RowChange[];
}

export interface LoadedHistory {
  readonly row: HistoryRow;
  readonly page: RowHistoryPage;
}

/**
 * Combines the histories of several rows: one moment for each transaction, newest first. Omits moments older than the
 * loaded part of any history, because changes may be missing from them.
 */
export function momentsOf(histories: readonly LoadedHistory[]): Moment[] {
  const completeFrom = Math.max(0, ...histories.map(({ page }) => page.next ?? 0));
  const changes = histories.flatMap(({ row, page }) => page.versions.map((version) => ({ row, version })));
  const together = Map.groupBy(
    changes.filter(({ version }) => version.version === null || version.version >= completeFrom),
    ({ version: { version, siteId, writtenMs } }) => (version === null ? `${siteId} ${writtenMs}` : `${version}`),
  );
  return [...together]
    .map(([id, ofMoment]): Moment => {
      const { version, author, writtenMs } = (ofMoment[0] as RowChange).version;
      return { id, version, author, writtenMs, changes: ofMoment };
    })
    .sort((a, b) => {
      if (a.version === null || b.version === null)
        return a.version === b.version ? b.writtenMs - a.writtenMs : a.version === null ? -1 : 1;
      return b.version - a.version;
    });
}
