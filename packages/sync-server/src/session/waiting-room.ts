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

/**
 * The connections that have not shown a valid token yet. They are limited separately from the others, so that clients
 * without a token cannot use up the limit of members. A client that sends its hello at once waits only a few
 * milliseconds, so in a full room the connection that has waited longest is the least likely to be honest.
 */
export class WaitingRoom<Connection> {
  private readonly limits: WaitingRoomLimits;
  private readonly evict: (connection: Connection, error: RockpoolError) => void;
  // The addresses, in order of arrival.
  private readonly waiting = new Map<Connection, string | null>();
  private readonly countByAddress = new Map<string, number>();

  /** `evict` is called with a connection that has just left a full room because another one arrived. */
  constructor(limits: WaitingRoomLimits, evict: (connection: Connection, error: RockpoolError) => void) {
    this.limits = limits;
    this.evict = evict;
  }

  get size(): number {
    return this.waiting.size;
  }

  /** Whether the address may begin another connection. A null address has no limit. */
  admits(address: string | null): boolean {
    return address === null || (this.countByAddress.get(address) ?? 0) < this.limits.maxUnauthenticatedPerAddress;
  }

  /** Throws `too-many-connections`. */
  enter(connection: Connection, address: string | null): void {
    const { maxUnauthenticated, maxUnauthenticatedPerAddress } = this.limits;
    if (!this.admits(address)) throw new RockpoolError('too-many-connections', { limit: maxUnauthenticatedPerAddress });
    const [longest] = this.waiting.keys();
    if (longest !== undefined && this.waiting.size >= maxUnauthenticated) {
      this.leave(longest);
      this.evict(longest, new RockpoolError('too-many-connections', { limit: maxUnauthenticated }));
    }
    this.waiting.set(connection, address);
    if (address !== null) this.countByAddress.set(address, (this.countByAddress.get(address) ?? 0) + 1);
  }

  /** Does nothing for a connection that is not in the room. */
  leave(connection: Connection): void {
    const address = this.waiting.get(connection) ?? null;
    if (!this.waiting.delete(connection) || address === null) return;
    const left = (this.countByAddress.get(address) ?? 0) - 1;
    if (left > 0) this.countByAddress.set(address, left);
    else this.countByAddress.delete(address);
  }
}
