import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Subscribable, Write } from '../client.ts';
import type { WriteState } from '../rpc/write-state.ts';
import { isUnflushed } from '../unflushed.ts';

/** The database's side, as this side calls it. */
export interface WriteStateSource {
  /** Throws where there is no server that could decide. */
  requireServer(): void;
  writeStates(requestIds: readonly string[]): Promise<readonly WriteState[]>;
  /** An outcome changes it. */
  readonly status: Pick<Subscribable<unknown>, 'subscribe'>;
}

/** Asked again after this long without a change of the status: what a tab hears of another may get lost. */
const ASK_AGAIN_MS = 5_000;

/** Asked about at once at most; the oldest first, which are decided first. */
const MAX_ASKED = 500;

/**
 * The second promise of writes: what became of them at the server. It is asked of the database itself, under the id of
 * the request, so it does not matter which tab leads, and nothing is asked before somebody looks at the promise.
 */
export class SyncedWrites {
  private readonly source: WriteStateSource;
  private readonly waiting = new Map<string, PromiseWithResolvers<void>>();
  private stopListening: (() => void) | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isAsking = false;
  private mustAskAgain = false;
  private ended: RockpoolError | null = null;

  constructor(source: WriteStateSource) {
    this.source = source;
  }

  /** The same promise, with `synced` beside it. */
  beside<T>(requestId: string, local: Promise<T>): Write<T> {
    let synced: Promise<void> | null = null;
    const get = (): Promise<void> => (synced ??= this.whenDecided(requestId, local));
    return Object.defineProperty(local, 'synced', { get }) as Write<T>;
  }

  /** Rejects everything that waits. */
  end(error: RockpoolError): void {
    this.ended = error;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
    this.rest();
  }

  private async whenDecided(requestId: string, local: Promise<unknown>): Promise<void> {
    await local.catch((thrown: unknown) => {
      if (!isUnflushed(thrown)) throw thrown;
    });
    if (this.ended !== null) throw this.ended;
    this.source.requireServer();
    const decided = Promise.withResolvers<void>();
    this.waiting.set(requestId, decided);
    this.stopListening ??= this.source.status.subscribe(() => this.ask());
    this.ask();
    return decided.promise;
  }

  private ask(): void {
    if (this.isAsking) this.mustAskAgain = true;
    else if (this.waiting.size > 0) void this.askNow();
  }

  private async askNow(): Promise<void> {
    this.isAsking = true;
    this.mustAskAgain = false;
    clearTimeout(this.timer);
    const requestIds = [...this.waiting.keys()].slice(0, MAX_ASKED);
    try {
      const fates = await this.source.writeStates(requestIds);
      requestIds.forEach((requestId, index) => this.settle(requestId, fates[index] ?? { state: 'pending' }));
    } catch (thrown) {
      // No answer is no outcome: it is asked again, unless the client is closed.
      if (toRockpoolError(thrown).code === 'client-closed') this.end(toRockpoolError(thrown));
    }
    this.isAsking = false;
    if (this.waiting.size === 0) return this.rest();
    if (this.mustAskAgain) return this.ask();
    this.timer = setTimeout(() => this.ask(), ASK_AGAIN_MS);
  }

  private settle(requestId: string, fate: WriteState): void {
    if (fate.state === 'pending') return;
    const decided = this.waiting.get(requestId);
    this.waiting.delete(requestId);
    if (fate.state === 'admitted') decided?.resolve();
    else
      decided?.reject(
        fate.state === 'rejected' ? RockpoolError.fromData(fate.error) : new RockpoolError('write-forgotten'),
      );
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.stopListening?.();
    this.stopListening = null;
  }
}
