import { RockpoolError } from '@rockpool/shared';
import type { Destination } from './destination.ts';

const KEY = 'server.json';

/** How long a check of the owner is trusted. */
const CHECK_INTERVAL_MS = 30_000;

/**
 * One server copies to a destination. The server that started last owns it. An earlier one that still runs, for example
 * on a machine that was thought to be dead, stops copying once it detects this.
 */
export class Ownership {
  private readonly destination: Destination;
  private readonly run: string;
  private readonly now: () => number;
  private checkedMs: number | null = null;

  /** `run` is the random id of this run of the server. */
  constructor(destination: Destination, run: string, now: () => number) {
    this.destination = destination;
    this.run = run;
    this.now = now;
  }

  /** Throws `backup-unavailable` if another server has taken the destination. */
  async require(): Promise<void> {
    // The clock may have been set back.
    if (this.checkedMs !== null && Math.abs(this.now() - this.checkedMs) < CHECK_INTERVAL_MS) return;
    if ((await this.owner()) === this.run) this.checkedMs = this.now();
    else await this.claim();
  }

  /** Stores the owner again, which shows whether the destination can be written. Throws like `require`. */
  async claim(): Promise<void> {
    if (this.checkedMs !== null && (await this.owner()) !== this.run)
      throw new RockpoolError('backup-unavailable', {
        destination: this.destination.name,
        operation: 'claim',
        problem: 'another server copies to this destination; give each its own prefix, and restart this one',
      });
    const content = JSON.stringify({ run: this.run, startedMs: this.now() });
    await this.destination.put(KEY, new TextEncoder().encode(content));
    this.checkedMs = this.now();
  }

  private async owner(): Promise<unknown> {
    const content = await this.destination.get(KEY);
    if (content === null) return null;
    try {
      return (JSON.parse(new TextDecoder().decode(content)) as { readonly run?: unknown }).run;
    } catch {
      return null;
    }
  }
}
