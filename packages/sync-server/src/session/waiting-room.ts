import { RockpoolError } from '@rockpool/shared';

/** Limits of connections that have not shown a valid token yet. */
export interface WaitingRoomLimits {
  /** The maximum number of connections without a valid token, in total. Above it, the oldest one ends. */
  readonly maxUnauthenticated: number;
  /**
   * The maximum number of connections without a valid token from one address. More are refused with
   * `too-many-connections`.
   */
  readonly maxUnauthenticatedPerAddress: number;
}

interface Waiting {
  readonly address: string | null;
  readonly evict: (error: RockpoolError) => void;
}

/**
 * The connections that have not shown a valid token yet. They are limited separately from the others, so that clients
 * without a token cannot use up the limit of members. A client that sends its hello at once waits only a few
 * milliseconds, so in a full room the connection that has waited longest is the least likely to be honest.
 */
export class WaitingRoom {
  private readonly limits: WaitingRoomLimits;
  // In order of arrival.
  private readonly waiting = new Set<Waiting>();
  private readonly countByAddress = new Map<string, number>();

  constructor(limits: WaitingRoomLimits) {
    this.limits = limits;
  }

  get size(): number {
    return this.waiting.size;
  }

  /** Whether the address may begin another connection. A null address has no limit. */
  admits(address: string | null): boolean {
    return address === null || (this.countByAddress.get(address) ?? 0) < this.limits.maxUnauthenticatedPerAddress;
  }

  /**
   * Returns the function that leaves the room. `evict` is called instead if the room is full and others arrive. Throws
   * `too-many-connections`.
   */
  enter(address: string | null, evict: Waiting['evict']): () => void {
    const { maxUnauthenticated, maxUnauthenticatedPerAddress } = this.limits;
    if (!this.admits(address)) throw new RockpoolError('too-many-connections', { limit: maxUnauthenticatedPerAddress });
    const [longest] = this.waiting;
    if (longest !== undefined && this.waiting.size >= maxUnauthenticated) {
      this.leave(longest);
      longest.evict(new RockpoolError('too-many-connections', { limit: maxUnauthenticated }));
    }
    const waiting = { address, evict };
    this.waiting.add(waiting);
    if (address !== null) this.countByAddress.set(address, (this.countByAddress.get(address) ?? 0) + 1);
    return () => this.leave(waiting);
  }

  private leave(waiting: Waiting): void {
    const { address } = waiting;
    if (!this.waiting.delete(waiting) || address === null) return;
    const left = (this.countByAddress.get(address) ?? 0) - 1;
    if (left > 0) this.countByAddress.set(address, left);
    else this.countByAddress.delete(address);
  }
}
