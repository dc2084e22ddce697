import {
  cellValuesEqual,
  encodeEarlierSites,
  MAX_EARLIER_SITES,
  type ChangesetOrigin,
  type EarlierSite,
} from '@rockpool/shared';
import type { Meta } from '../file/meta.ts';

/** For changesets that are still to be written, until a full resync (`Meta.endEarlierSites`). */
const OPEN = Number.MAX_SAFE_INTEGER;

export interface MovedChangesets {
  /** The last changeset of the site id that ends; null if nothing was sent as that site. */
  readonly last: ChangesetOrigin | null;
  /** From an old sequence to the new one: see `renumber`. */
  readonly numberOf: (sequence: number) => number;
}

export interface RowsOfOldSite {
  /** Whether some of what the old site sent leaves the rows until a delivery. */
  readonly leave: boolean;
  /** The log epoch of the server; null before the first welcome. */
  readonly logEpoch: Uint8Array | null;
}

/**
 * Stores the earlier sites when the site id changes. One whose changesets were all shown also counts for changesets of
 * an older log epoch (`upTo` 0), whose bases do not count. If there are too many, the oldest of those go first.
 */
export function moveEarlierSites(
  meta: Meta,
  { last, numberOf }: MovedChangesets,
  { leave, logEpoch }: RowsOfOldSite,
): void {
  // The rows stay as they are until a full resync, so that later writes are on top of them too.
  const stayShown = !leave && (meta.wantsFullResync || !cellValuesEqual(meta.logEpoch ?? logEpoch, logEpoch));
  const move = (upTo: number): number => (upTo === OPEN ? OPEN : numberOf(upTo));
  const known = meta.earlierSites.filter(({ upTo }) => upTo === 0);
  const counting = meta.earlierSites.map((site): EarlierSite => ({ last: site.last, upTo: move(site.upTo) }));
  if (last !== null) {
    if (!leave && !stayShown) known.push({ last, upTo: 0 });
    counting.push({ last, upTo: stayShown ? OPEN : numberOf(OPEN) });
  }
  const sites = [...known, ...counting.filter(({ upTo }) => upTo > 0)];
  meta.set('earlier_sites', encodeEarlierSites(sites.slice(-MAX_EARLIER_SITES)));
}
