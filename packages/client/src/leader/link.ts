import { RockpoolError } from '@rockpool/shared';
import { decodeError } from '../rpc/error-transfer.ts';
import type { SqlStatement, StatementResult } from '../rpc/sql-statement.ts';
import type { WriteAction } from '../rpc/write-action.ts';
import type { ChannelMessage, WriteMessage } from './channel-message.ts';
import type { Clock } from './clock.ts';
import type { WriteRequest } from './leadership.ts';

/** After this long without an answer a write fails. A hand-over takes 50 ms, and 3 s at worst; a frozen leader may take for ever. */
export const REQUEST_DEADLINE_MS = 10_000;

/** The leader does not begin a request in the last second before its deadline: it could commit after its author was told that it failed. */
const RUNNING_TIME_MS = 1_000;

/** Messages between tabs do not get lost in practice. Asking again costs little, because a request is done once however often it is asked. */
const RESEND_INTERVAL_MS = 2_000;

export interface LinkOptions {
  readonly post: (message: WriteMessage) => void;
  readonly clock: Clock;
  readonly newRequestId: () => string;
}

/**
 * A follower's way to the leader. A request keeps its id from leader to leader, and its effect is stored together with that id, so that it
 * happens exactly once: whoever leads next is asked again, and if that is this tab, it runs the request itself. What one tab writes takes
 * effect in the order of writing.
 */
export interface Link {
  /** Asks the leader to run these statements as one transaction. */
  write(statements: readonly SqlStatement[], action?: WriteAction): Promise<readonly StatementResult[]>;
  /** Reads an answer; anything else is passed over. */
  onMessage(message: ChannelMessage): void;
  /** Somebody new leads: asks it for everything that waits, in order. */
  onNewLeader(epoch: string): void;
  /** This tab leads now: runs everything that waits, in order. */
  runWaiting(run: (request: WriteRequest) => readonly StatementResult[]): void;
  /** The page goes away: nothing can be asked or answered, so nothing may fail for it. */
  pause(): void;
  /** The page is back: what waits gets its whole time again. */
  renewDeadlines(): void;
  /** Fails everything that waits. */
  fail(error: RockpoolError): void;
}

interface Waiting extends WriteRequest {
  readonly settle: PromiseWithResolvers<readonly StatementResult[]>;
  startedMs: number;
  timesAsked: number;
  leadersAsked: number;
}

export function createLink({ post, clock, newRequestId }: LinkOptions): Link {
  // In the order of writing, which a Map keeps; so the oldest deadline comes first too.
  const waitingById = new Map<string, Waiting>();
  let newestId: string | null = null;
  let leaderEpoch: string | null = null;
  let isPaused = false;
  let cancelTimer: (() => void) | null = null;

  function ask(waiting: Waiting, afterRequestId: string | null): void {
    if (leaderEpoch === null) return; // It goes to whoever announces itself.
    waiting.timesAsked++;
    const { id, statements, action, startedMs } = waiting;
    const latestStartMs = startedMs + REQUEST_DEADLINE_MS - RUNNING_TIME_MS;
    post({ kind: 'write', epoch: leaderEpoch, requestId: id, afterRequestId, statements, ...(action === undefined ? {} : { action }), latestStartMs });
  }

  function askForAll(): void {
    let afterRequestId: string | null = null;
    for (const waiting of waitingById.values()) {
      ask(waiting, afterRequestId);
      afterRequestId = waiting.id;
    }
  }

  function settle(waiting: Waiting, how: (settle: PromiseWithResolvers<readonly StatementResult[]>) => void): void {
    waitingById.delete(waiting.id);
    how(waiting.settle);
  }

  /** One timer for all: to ask again after a silence, or to give up the oldest. Starts anew with every answer. */
  function watch(): void {
    cancelTimer?.();
    cancelTimer = null;
    const [oldest] = waitingById.values();
    if (oldest === undefined || isPaused) return;
    const remainingMs = oldest.startedMs + REQUEST_DEADLINE_MS - clock.nowMs();
    cancelTimer = clock.after(Math.max(0, Math.min(RESEND_INTERVAL_MS, remainingMs)), () => {
      giveUpOverdue();
      askForAll();
      watch();
    });
  }

  function giveUpOverdue(): void {
    for (const waiting of waitingById.values()) {
      if (clock.nowMs() < waiting.startedMs + REQUEST_DEADLINE_MS) return;
      const { timesAsked, leadersAsked } = waiting;
      settle(waiting, ({ reject }) => reject(new RockpoolError('leader-unreachable', { waitedMs: REQUEST_DEADLINE_MS, timesAsked, leadersAsked })));
    }
  }

  return {
    write(statements, action) {
      const waiting: Waiting = {
        id: newRequestId(),
        statements,
        ...(action === undefined ? {} : { action }),
        settle: Promise.withResolvers(),
        startedMs: clock.nowMs(),
        timesAsked: 0,
        leadersAsked: leaderEpoch === null ? 0 : 1,
      };
      const before = newestId !== null && waitingById.has(newestId) ? newestId : null;
      waitingById.set(waiting.id, waiting);
      newestId = waiting.id;
      ask(waiting, before);
      if (cancelTimer === null) watch();
      return waiting.settle.promise;
    },

    onMessage(message) {
      if (message.kind !== 'written' && message.kind !== 'refused') return;
      const waiting = waitingById.get(message.requestId);
      if (waiting === undefined) return; // The request of another tab, or answered already.
      settle(waiting, ({ resolve, reject }) => (message.kind === 'written' ? resolve(message.results) : reject(decodeError(message.error))));
      watch();
    },

    onNewLeader(epoch) {
      leaderEpoch = epoch;
      for (const waiting of waitingById.values()) waiting.leadersAsked++;
      askForAll();
    },

    runWaiting(run) {
      for (const waiting of [...waitingById.values()]) {
        settle(waiting, ({ resolve, reject }) => {
          try {
            resolve(run(waiting));
          } catch (thrown) {
            reject(thrown);
          }
        });
      }
      watch();
    },

    pause() {
      leaderEpoch = null;
      isPaused = true;
      watch();
    },

    renewDeadlines() {
      isPaused = false;
      for (const waiting of waitingById.values()) waiting.startedMs = clock.nowMs();
      watch();
    },

    fail(error) {
      for (const waiting of [...waitingById.values()]) settle(waiting, ({ reject }) => reject(error));
      watch();
    },
  };
}
