import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Subscribable } from '../interface/subscribable.ts';
import type { Write } from '../interface/writes.ts';
import type { WriteState } from '../rpc/write-state.ts';
import { needsPerson } from './needs-person.ts';

/** The worker's interface for the states of writes. */
export interface WriteStateSource {
  /** Throws if the client has no server. */
  requireServer(): void;
  writeStates(requestIds: readonly string[]): Promise<readonly WriteState[]>;
  /** Calls its listeners after every outcome. */
  readonly status: Pick<Subscribable<unknown>, 'subscribe'>;
}

/** How long to wait for a change of the status before asking again, because a message between tabs may get lost. */
const ASK_AGAIN_MS = 5_000;

/** The maximum number of writes in one request. The oldest are first, because they are decided first. */
const MAX_ASKED = 500;

/**
 * The `synced` promise of writes. It identifies a write by its request id, so a change of leader does not matter. It
 * requests nothing before the app reads the promise.
 */
export class SyncedWrites {
  // The constructor sets this field; a declaration adds nothing to the page's code.
  declare private readonly source: WriteStateSource;
  private readonly waiting = new Map<string, PromiseWithResolvers<void>>();
  private stopListening: (() => void) | null = null;
  declare private timer: ReturnType<typeof setTimeout> | undefined;
  private isAsking = false;
  private mustAskAgain = false;
  private ended: RockpoolError | null = null;

  constructor(source: WriteStateSource) {
    this.source = source;
  }

  /** Adds `synced` to the promise of a write. */
  beside<T>(requestId: string, local: Promise<T>): Write<T> {
    let synced: Promise<void> | null = null;
    const get = (): Promise<void> => (synced ??= this.whenDecided(requestId, local));
    return Object.defineProperty(local, 'synced', { get }) as Write<T>;
  }

  /** Rejects all pending promises. */
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
      const writeStates = await this.source.writeStates(requestIds);
      writeStates.forEach((writeState, index) => this.settle(requestIds[index] as string, writeState));
    } catch (thrown) {
      const error = toRockpoolError(thrown);
      // A failed request leaves the outcomes unknown, so it is repeated while this tab can read. A client that closes
      // calls `end`.
      if (needsPerson(error)) this.end(error);
    }
    this.isAsking = false;
    if (this.waiting.size === 0) return this.rest();
    if (this.mustAskAgain) return this.ask();
    this.timer = setTimeout(() => this.ask(), ASK_AGAIN_MS);
  }

  private settle(requestId: string, writeState: WriteState): void {
    if (writeState.state === 'pending') return;
    const decided = this.waiting.get(requestId);
    this.waiting.delete(requestId);
    // The writes that no request has named yet may be decided too, and no change of the status follows.
    this.mustAskAgain ||= this.waiting.size >= MAX_ASKED;
    if (writeState.state === 'admitted') decided?.resolve();
    else
      decided?.reject(
        'error' in writeState ? RockpoolError.fromData(writeState.error) : new RockpoolError('write-forgotten'),
      );
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.stopListening?.();
    this.stopListening = null;
  }
}

/** Returns whether a write that failed with this error is committed nevertheless. Repeating it would write twice. */
export function isUnflushed(thrown: unknown): boolean {
  return thrown instanceof RockpoolError && thrown.code === 'storage-unflushed';
}

/**
 * Returns whether the outcome of a write that failed with this error is unknown. Such a write is repeated under the
 * same id. A repetition that fails with a temporary error may not have reached the database, so the outcome stays
 * unknown.
 */
export function mayBeCommitted({ code, fields, recovery }: RockpoolError, isRepeated: boolean): boolean {
  return code === 'worker-stuck' || 'timesAsked' in fields || (isRepeated && recovery === 'retry');
}
