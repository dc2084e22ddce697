import { RockpoolError, type Push } from '@rockpool/shared';
import type { SiteState } from '../log/sites.ts';
import { undecidedChangesets } from './chain.ts';

/**
 * A push by somebody else than whom the site was last pushed as: a person who signed in anew, a file that was copied to
 * another person, or a member who has read the site's id in the conflict log. The welcome told them no hash, so that a
 * client asks by this push what is its own, and the hashes tell the three apart:
 *
 *   another history    throws `site-copied`: the client goes on as a new site with what is its own
 * the same history   throws `auth-site-confirmed`: it is the same file, and the site is the sender's from now on.
 *   Nothing of the push is done yet
 *   neither            throws `auth-site-refused`
 */
export function judgeForeignPush(
  site: SiteState,
  push: Push,
  decidedHash: (sequence: number) => Uint8Array | null,
  take: () => void,
): never {
  let knowsHashes = false;
  undecidedChangesets(site, push, (sequence) => {
    const hash = decidedHash(sequence);
    knowsHashes ||= hash !== null;
    return hash;
  });
  if (!knowsHashes) throw new RockpoolError('auth-site-refused');
  take();
  throw new RockpoolError('auth-site-confirmed');
}
