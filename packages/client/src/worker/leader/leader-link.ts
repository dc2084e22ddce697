import { RockpoolError } from '@rockpool/shared';
import { decodeError } from '../../rpc/error-transfer.ts';
import type { AnswerMessage, AskMessage, LeaderRequest } from './channel-message.ts';
import { createAwakeTime } from './awake-time.ts';
import type { Clock } from './clock.ts';

/**
 * A request without an answer fails after this time, not counting time that the device slept. A hand-over takes 50 ms,
 * at worst 3 s; a frozen leader may never answer.
 */
export const REQUEST_DEADLINE_MS = 10_000;

/**
 * The leader begins no request in the last second before its deadline: it could commit after its author was told that
 * it failed.
 */
const RUNNING_TIME_MS = 1_000;

/** Messages between tabs are not lost in practice. Repeating a request is cheap, because it takes effect once. */
const RESEND_INTERVAL_MS = 2_000;

/** The leader and its address. */
export interface LeaderAddress {
  readonly leaderTerm: string;
  readonly tabId: string;
}

export interface LeaderLinkOptions {
  /** Sends to the tab with that id. The link does not know its own tab, so the sender adds the return address. */
  readonly send: (tabId: string, message: Omit<AskMessage, 'tabId'>) => void;
  readonly clock: Clock;
  readonly newRequestId: () => string;
}

/**
 * A follower's connection to the leader. A request keeps its id across leaders, and the effect of a write is stored
 * with that id, so it happens exactly once: the next leader is asked again, and if that is this tab, it runs the
 * request itself. The writes of one tab take effect in order, and a read follows the tab's earlier writes.
 */
export interface LeaderLink {
  /** Asks the leader. The answer depends on the request. Default id: a new one. */
  ask(request: LeaderRequest, requestId?: string): Promise<unknown>;
  onAnswer(message: AnswerMessage): void;
  /** Repeats all waiting requests to a new leader, in order. */
  onNewLeader(leader: LeaderAddress): void;
  /** This tab leads now: runs all waiting requests, in order. */
  runWaiting(run: (id: string, request: LeaderRequest) => Promise<unknown>): void;
  /** The page is suspended: nothing can be asked or answered, so no request fails meanwhile. */
  pause(): void;
  /** The page is back: waiting requests get their full time again. */
  renewDeadlines(): void;
  /** Fails all waiting requests. */
  fail(error: RockpoolError): void;
}

interface Waiting {
  readonly id: string;
  readonly request: LeaderRequest;
  readonly settle: PromiseWithResolvers<unknown>;
  startedAwakeMs: number;
  timesAsked: number;
  leadersAsked: number;
}

export function createLeaderLink({ send, clock, newRequestId }: LeaderLinkOptions): LeaderLink {
  // In the order of asking, which a Map keeps; so the oldest deadline comes first too.
  const waitingById = new Map<string, Waiting>();
  // Whoever sleeps, or has its clock set, finds the answer when it wakes: giving up at once would tell of a failure
  // what has taken effect.
  const awakeMs = createAwakeTime(() => clock.elapsedMs(), RESEND_INTERVAL_MS);
  let newestWriteId: string | null = null;
  let leader: LeaderAddress | null = null;
  let isPaused = false;
  let cancelTimer: (() => void) | null = null;

  function ask(waiting: Waiting, lastWriteId: string | null): void {
    if (leader === null) return; // It goes to whoever announces itself.
    waiting.timesAsked++;
    const { id, request } = waiting;
    // A write beside an open transaction waits for its end, so the transaction cannot wait for that write.
    const afterRequestId = isOfTransaction(request) ? null : lastWriteId;
    const latestStartMs = clock.nowMs() + remainingMs(waiting) - RUNNING_TIME_MS;
    send(leader.tabId, {
      kind: 'ask',
      leaderTerm: leader.leaderTerm,
      requestId: id,
      afterRequestId,
      request,
      latestStartMs,
    });
  }

  function askForAll(): void {
    let afterRequestId: string | null = null;
    for (const waiting of waitingById.values()) {
      ask(waiting, afterRequestId);
      if (waiting.request.kind === 'write') afterRequestId = waiting.id;
    }
  }

  function settle(waiting: Waiting, how: (settle: PromiseWithResolvers<unknown>) => void): void {
    waitingById.delete(waiting.id);
    how(waiting.settle);
  }

  function remainingMs({ startedAwakeMs }: Waiting): number {
    return startedAwakeMs + REQUEST_DEADLINE_MS - awakeMs();
  }

  /** One timer for all requests: repeats them after a silence or fails the oldest. Restarts with every answer. */
  function watch(): void {
    cancelTimer?.();
    cancelTimer = null;
    const [oldest] = waitingById.values();
    if (oldest === undefined || isPaused) return;
    cancelTimer = clock.after(Math.max(0, Math.min(RESEND_INTERVAL_MS, remainingMs(oldest))), () => {
      giveUpOverdue();
      askForAll();
      watch();
    });
  }

  function giveUpOverdue(): void {
    for (const waiting of waitingById.values()) {
      if (remainingMs(waiting) > 0) return;
      const { timesAsked, leadersAsked } = waiting;
      settle(waiting, ({ reject }) =>
        reject(new RockpoolError('leader-unreachable', { waitedMs: REQUEST_DEADLINE_MS, timesAsked, leadersAsked })),
      );
    }
  }

  return {
    ask(request, requestId = newRequestId()) {
      const waiting: Waiting = {
        id: requestId,
        request,
        settle: Promise.withResolvers(),
        startedAwakeMs: awakeMs(),
        timesAsked: 0,
        leadersAsked: leader === null ? 0 : 1,
      };
      const before = newestWriteId !== null && waitingById.has(newestWriteId) ? newestWriteId : null;
      waitingById.set(waiting.id, waiting);
      if (request.kind === 'write') newestWriteId = waiting.id;
      ask(waiting, before);
      if (cancelTimer === null) watch();
      return waiting.settle.promise;
    },

    onAnswer(message) {
      const waiting = waitingById.get(message.requestId);
      if (waiting === undefined) return; // It has been answered already.
      settle(waiting, ({ resolve, reject }) =>
        message.kind === 'answer' ? resolve(message.answer) : reject(decodeError(message.error)),
      );
      watch();
    },

    onNewLeader(next) {
      leader = next;
      for (const waiting of waitingById.values()) waiting.leadersAsked++;
      askForAll();
    },

    runWaiting(run) {
      for (const waiting of [...waitingById.values()]) {
        settle(waiting, ({ resolve }) => resolve(run(waiting.id, waiting.request)));
      }
      watch();
    },

    pause() {
      leader = null;
      isPaused = true;
      watch();
    },

    renewDeadlines() {
      isPaused = false;
      for (const waiting of waitingById.values()) waiting.startedAwakeMs = awakeMs();
      watch();
    },

    fail(error) {
      for (const waiting of [...waitingById.values()]) settle(waiting, ({ reject }) => reject(error));
      watch();
    },
  };
}

function isOfTransaction(request: LeaderRequest): boolean {
  return request.kind === 'step' || (request.kind === 'write' && request.action?.kind === 'commit-transaction');
}
