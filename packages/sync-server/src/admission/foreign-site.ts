import { RockpoolError, type Push } from '@rockpool/shared';
import type { SiteState } from '../log/sites.ts';
import { undecidedChangesets } from './chain.ts';

/**
 * Judges a push of a site by a principal other than its last one: a person who signed in with a new account, a file
 * that was copied to another person, or a member who has read the site's id in the conflict log. The welcome contained
 * no hash, so the push's own hashes distinguish the three cases:
 *
 *   different history throws `site-copied`: the client continues as a new site with its own changesets
 *   the same history   throws `auth-site-confirmed`: the file is the same, and `take` gives the site to the sender
 *   the same history,  throws `site-copied`: two people use copies of one file at once. Without this case, they would
 *     and contested    take the site from each other until one of them connects twice in a row
 *   no known hash      throws `auth-site-refused`
 *
 * Decides no changeset of the push in any case.
 */
export function judgeForeignPush(
  site: SiteState,
  push: Push,
  decidedHash: (sequence: number) => Uint8Array | null,
  take: () => void,
  isContested: boolean,
): never {
  let knowsHashes = false;
  undecidedChangesets(site, push, (sequence) => {
    const hash = decidedHash(sequence);
    knowsHashes ||= hash !== null;
    return hash;
  });
  if (!knowsHashes) throw new RockpoolError('auth-site-refused');
  if (isContested) throw new RockpoolError('site-copied', { sequence: site.lastSequence });
  take();
  throw new RockpoolError('auth-site-confirmed');
}
