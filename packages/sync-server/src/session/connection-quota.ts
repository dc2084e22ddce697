import { RockpoolError } from '@rockpool/shared';

/** Counts the sessions of each principal, and what they hold in memory, and limits both. */
export class ConnectionQuota {
  private readonly perPrincipal: number;
  private readonly bytesPerPrincipal: number;
  private readonly taken = new Map<string, number>();
  private readonly receivedBytes = new Map<string, number>();

  constructor(perPrincipal: number, bytesPerPrincipal: number = Infinity) {
    this.perPrincipal = perPrincipal;
    this.bytesPerPrincipal = bytesPerPrincipal;
  }

  /** Throws `too-many-connections`. */
  enter(principal: string): void {
    const count = this.taken.get(principal) ?? 0;
    if (count >= this.perPrincipal) throw new RockpoolError('too-many-connections', { limit: this.perPrincipal });
    this.taken.set(principal, count + 1);
  }

  leave(principal: string): void {
    const left = (this.taken.get(principal) ?? 0) - 1;
    if (left > 0) this.taken.set(principal, left);
    else this.taken.delete(principal);
  }

  /**
   * The received messages of a session that are not finished have become larger by `bytes`, or smaller. Throws
   * `rate-limited` if those of all sessions of the principal exceed the limit. Parts of a message count until it
   * is whole or its session ends; a message counts until its permission is checked, and a push until it is decided,
   * even after the session has ended.
   */
  receive(principal: string, bytes: number): void {
    const heldBytes = (this.receivedBytes.get(principal) ?? 0) + bytes;
    if (heldBytes > 0) this.receivedBytes.set(principal, heldBytes);
    else this.receivedBytes.delete(principal);
    if (bytes > 0 && heldBytes > this.bytesPerPrincipal)
      throw new RockpoolError('rate-limited', { heldBytes, limitBytes: this.bytesPerPrincipal });
  }
}
