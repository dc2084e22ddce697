import { encodeEarlierSites, MAX_EARLIER_SITES, type ChangesetOrigin, type EarlierSite } from '@rockpool/shared';

/** For changesets that are still to be written, until a full resync (`Meta.endEarlierSites`). */
const OPEN = Number.MAX_SAFE_INTEGER;

export interface MovedSites {
  /** The stored earlier sites. Those that only count for changesets that are not sent again are left out. */
  readonly earlier: readonly EarlierSite[];
  /** The last changeset of the site id that ends; null if nothing was sent as that site. */
  readonly last: ChangesetOrigin | null;
  /** From an old sequence to the new one: see `renumber`. */
  readonly numberOf: (sequence: number) => number;
  /** Whether the rows stay as they are until a full resync, so that later writes are on top of them too. */
  readonly staysShown: boolean;
}

/** The earlier sites to store when the site id changes. */
export function moveEarlierSites({ earlier, last, numberOf, staysShown }: MovedSites): Uint8Array<ArrayBuffer> {
  const sites = earlier.map((site) => ({ last: site.last, upTo: site.upTo === OPEN ? OPEN : numberOf(site.upTo) }));
  if (last !== null) sites.push({ last, upTo: staysShown ? OPEN : numberOf(OPEN) });
  return encodeEarlierSites(sites.filter(({ upTo }) => upTo > 0).slice(-MAX_EARLIER_SITES));
}
