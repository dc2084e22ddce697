import { RockpoolError } from '@rockpool/shared';
import type { Destination } from './destination.ts';

const KEY = 'server.json';

const LOST_CONTENTS = `${KEY} is missing: the folder is not mounted, the bucket is another one, or the copies were deleted; if they are lost, use another folder or prefix`;

/** Throws `backup-unavailable` if the destination has nothing, because it is not mounted or has lost its contents. */
export async function requireContents(destination: Destination): Promise<void> {
  if ((await destination.get(KEY)) === null) throw refusal(destination, 'get', LOST_CONTENTS);
}

/** `backup-unavailable` with a problem that an operator has to solve. */
export function refusal({ name }: Destination, operation: string, problem: string): RockpoolError {
  return new RockpoolError('backup-unavailable', { destination: name, operation, problem });
}

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
  private readonly hasCopies: () => boolean;
  private checkedMs: number | null = null;
  private isDoubted = false;

  /**
   * `run` is the random id of this run of the server. `hasCopies` says whether this data directory has copied to the
   * destination before.
   */
  constructor(destination: Destination, run: string, now: () => number, hasCopies: () => boolean) {
    this.destination = destination;
    this.run = run;
    this.now = now;
    this.hasCopies = hasCopies;
  }

  /**
   * Throws `backup-unavailable` if another server has taken the destination, or if the destination has lost its
   * contents: copies that follow a lost base could not be restored.
   */
  async require(): Promise<void> {
    // The clock may have been set back.
    const isRecent = this.checkedMs !== null && Math.abs(this.now() - this.checkedMs) < CHECK_INTERVAL_MS;
    if (isRecent && !this.isDoubted) return;
    const isUsed = this.isUsed();
    const owner = await this.owner();
    if (owner === this.run) this.checked();
    else await this.take(owner, isUsed);
  }

  /** The next `require` reads the owner. Call after a failure: the disk of a folder may have been unmounted. */
  doubt(): void {
    this.isDoubted = true;
  }

  /** Stores the owner again, which shows whether the destination can be written. Throws like `require`. */
  async claim(): Promise<void> {
    const isUsed = this.isUsed();
    await this.take(await this.owner(), isUsed);
  }

  private async take(owner: unknown, isUsed: boolean): Promise<void> {
    if (owner === 'none' && isUsed) throw refusal(this.destination, 'claim', LOST_CONTENTS);
    if (this.checkedMs !== null && owner !== this.run)
      throw refusal(
        this.destination,
        'claim',
        'another server copies to this destination; give each its own prefix, and restart this one',
      );
    const content = JSON.stringify({ run: this.run, startedMs: this.now() });
    await this.destination.put(KEY, new TextEncoder().encode(content));
    this.checked();
  }

  private checked(): void {
    this.checkedMs = this.now();
    this.isDoubted = false;
  }

  private isUsed(): boolean {
    return this.checkedMs !== null || this.hasCopies();
  }

  /** The run that owns the destination; `none` if it has no `server.json`, and null if that cannot be read. */
  private async owner(): Promise<unknown> {
    const content = await this.destination.get(KEY);
    if (content === null) return 'none';
    try {
      return (JSON.parse(new TextDecoder().decode(content)) as { readonly run?: unknown }).run;
    } catch {
      return null;
    }
  }
}
