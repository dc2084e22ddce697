import { RockpoolError } from '@rockpool/shared';
import type { SessionLimits } from '../session/limits.ts';
import { Rate } from '../session/rate.ts';

/** A principal that is forgotten gets a full burst again, so many are remembered. */
const MAX_PRINCIPALS = 10_000;

type Limits = Pick<SessionLimits, 'memberChangeBurst' | 'memberChangesPerSecond'>;

/** Limits the changes of members and invitations that each principal requests. */
export class ChangeRates {
  private readonly limits: Limits;
  // In order of the last change.
  private readonly byPrincipal = new Map<string, Rate>();

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Throws `rate-limited`. */
  take(principal: string, nowMs: number): void {
    const { memberChangeBurst: burst, memberChangesPerSecond: perSecond } = this.limits;
    const rate = this.byPrincipal.get(principal) ?? new Rate({ burst, perSecond }, nowMs);
    this.byPrincipal.delete(principal);
    this.byPrincipal.set(principal, rate);
    const [oldest = principal] = this.byPrincipal.keys();
    if (this.byPrincipal.size > MAX_PRINCIPALS) this.byPrincipal.delete(oldest);
    if (!rate.take(nowMs)) throw new RockpoolError('rate-limited', { changesPerSecond: perSecond });
  }
}
