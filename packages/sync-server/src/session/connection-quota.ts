import { RockpoolError } from '@rockpool/shared';

/** Counts the sessions of each principal and limits them. */
export class ConnectionQuota {
  private readonly perPrincipal: number;
  private readonly taken = new Map<string, number>();

  constructor(perPrincipal: number) {
    this.perPrincipal = perPrincipal;
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
}
