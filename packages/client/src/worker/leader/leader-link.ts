import { RockpoolError } from '@rockpool/shared';
import { decodeError } from '../../rpc/error-transfer.ts';
import type { AnswerMessage, AskMessage, LeaderRequest } from './channel-message.ts';
import { createAwakeTime } from './awake-time.ts';
import type { Clock } from './clock.ts';

/**
 * A request without a response fails after this time, not counting time that the device slept. A hand-over takes 50 ms,
 * at worst 3 s; a frozen leader may never answer. A write or read that the leader has begun does not fail while that
 * tab leads.
 */
export const REQUEST_DEADLINE_MS = 10_000;

/**
 * The leader begins no request in the last second before its deadline, so that its author learns of the beginning in
 * time. Otherwise the request could commit after its author received a failure.
 */
const BEGUN_NOTICE_MS = 1_000;

/**
 * All requests without a response are repeated together, so a new one may be repeated at once. Messages between tabs
 * are not lost in practice. Repeating a request is cheap, because it takes effect once.
 */
const RESEND_INTERVAL_MS = 2_000;

/** The leader and its address. */
export interface LeaderAddress {
  readonly leaderTerm: string;
  readonly tabId: string;
}

export interface LeaderLinkOptions {
  /**
   * Sends to the tab with this id. The link does not know the id of its own tab, so the sender adds the return address.
   */
  readonly send: (tabId: string, message: Omit<AskMessage, 'tabId'>) => void;
  readonly clock: Clock;
  readonly newRequestId: () => string;
}

/**
 * A follower's connection to the leader. A request keeps its id across leaders, and the effect of a write is stored
 * with that id, so the write happens exactly once. If the leader changes, the request is sent to the next leader; if
 * that is this tab, it runs the request itself. The writes of one tab take effect in order, and a read follows the
 * tab's earlier writes.
 */
export interface LeaderLink {
  /** Asks the leader. The type of the response depends on the request. Default id: a new one. */
  ask(request: LeaderRequest, requestId?: string): Promise<unknown>;
  onAnswer(message: AnswerMessage): void;
  /** Repeats all waiting requests to a new leader, in order. */
  onNewLeader(leader: LeaderAddress): void;
  /** Called when the leader has left. It no longer runs any request, so the deadlines apply again. */
  onLeaderGone(): void;
  /** Called when this tab leads. Runs all waiting requests, in order. */
  runWaiting(run: (id: string, request: LeaderRequest) => Promise<unknown>): void;
  /** Called when the page is suspended. No request can be sent or answered meanwhile, so none fails. */
  pause(): void;
  /** Called when the page is back. The full time of waiting requests begins again. */
  renewDeadlines(): void;
  /** Called when the tab has left. Fails all waiting and future requests. */
  fail(error: RockpoolError): void;
}

interface Waiting {
  readonly id: string;
  readonly attempt: number;
  readonly request: LeaderRequest;
  readonly settle: PromiseWithResolvers<unknown>;
  startedAwakeMs: number;
  /** Whether the leader has begun the write or read. */
  hasBegun: boolean;
  timesAsked: number;
  leadersAsked: number;
}

export function createLeaderLink(options: LeaderLinkOptions): LeaderLink {
  return new Link(options);
}

class Link implements LeaderLink {
  private readonly options: LeaderLinkOptions;
  /** The Map keeps the order in which requests were made. */
  private readonly waitingById = new Map<string, Waiting>();
  private attempts = 0;
  /**
   * The clock of the deadlines. It stops while the device sleeps, and is independent of the wall clock. The response
   * may arrive after the device has woken up; if the request failed before that, a failure would be reported for a
   * request that took effect.
   */
  private readonly awakeMs: () => number;
  /** Empty before the first write. */
  private newestWriteId = '';
  private leader: LeaderAddress | null = null;
  private isPaused = false;
  private failure: RockpoolError | null = null;
  private cancelTimer: (() => void) | null = null;

  constructor(options: LeaderLinkOptions) {
    this.options = options;
    this.awakeMs = createAwakeTime(() => options.clock.elapsedMs(), RESEND_INTERVAL_MS);
  }

  ask(request: LeaderRequest, requestId: string = this.options.newRequestId()): Promise<unknown> {
    if (this.failure !== null) return Promise.reject(this.failure);
    const waiting: Waiting = {
      id: requestId,
      attempt: ++this.attempts,
      request,
      settle: Promise.withResolvers(),
      startedAwakeMs: this.awakeMs(),
      hasBegun: false,
      timesAsked: 0,
      leadersAsked: this.leader === null ? 0 : 1,
    };
    const before = this.waitingById.has(this.newestWriteId) ? this.newestWriteId : null;
    this.waitingById.set(waiting.id, waiting);
    if (request.kind === 'write') this.newestWriteId = waiting.id;
    this.send(waiting, before);
    if (this.cancelTimer === null) this.watch();
    return waiting.settle.promise;
  }

  onAnswer(message: AnswerMessage): void {
    const waiting = this.waitingById.get(message.requestId);
    if (waiting === undefined) return; // The request has been answered already.
    if (message.kind === 'begun') {
      // A late message of an earlier leader does not count.
      if (message.leaderTerm === this.leader?.leaderTerm) waiting.hasBegun = true;
      return;
    }
    const { resolve, reject } = this.take(waiting);
    if (message.kind === 'answer') resolve(message.answer);
    else reject(decodeError(message.error));
    // The timer keeps running for the others: responses to later requests must not delay the repetition of an earlier
    // one.
    if (this.waitingById.size === 0) this.watch();
  }

  onNewLeader(next: LeaderAddress): void {
    this.onLeaderGone();
    this.leader = next;
    for (const waiting of this.waitingById.values()) waiting.leadersAsked++;
    this.askForAll();
  }

  onLeaderGone(): void {
    this.leader = null;
    for (const waiting of this.waitingById.values()) waiting.hasBegun = false;
  }

  runWaiting(run: (id: string, request: LeaderRequest) => Promise<unknown>): void {
    for (const waiting of [...this.waitingById.values()]) this.take(waiting).resolve(run(waiting.id, waiting.request));
    this.watch();
  }

  pause(): void {
    this.onLeaderGone();
    this.isPaused = true;
    this.watch();
  }

  renewDeadlines(): void {
    this.isPaused = false;
    for (const waiting of this.waitingById.values()) waiting.startedAwakeMs = this.awakeMs();
    this.watch();
  }

  fail(error: RockpoolError): void {
    this.failure = error;
    for (const waiting of [...this.waitingById.values()]) this.take(waiting).reject(error);
    this.watch();
  }

  private send(waiting: Waiting, lastWriteId: string | null): void {
    const { leader, options } = this;
    if (leader === null) return; // The request is sent to the next leader that announces itself.
    waiting.timesAsked++;
    const { id, attempt, request } = waiting;
    // A write outside an open transaction waits until that transaction ends, so the transaction cannot wait for the
    // write.
    const afterRequestId = isOfTransaction(request) ? null : lastWriteId;
    const latestStartMs = options.clock.nowMs() + this.remainingMs(waiting) - BEGUN_NOTICE_MS;
    options.send(leader.tabId, {
      kind: 'ask',
      leaderTerm: leader.leaderTerm,
      requestId: id,
      attempt,
      afterRequestId,
      // The leader has the statements. Copies of a large import would fill its memory while SQLite occupies its thread.
      request: waiting.hasBegun && request.kind === 'write' ? { ...request, statements: [] } : request,
      latestStartMs,
    });
  }

  private askForAll(): void {
    let afterRequestId: string | null = null;
    for (const waiting of this.waitingById.values()) {
      this.send(waiting, afterRequestId);
      if (waiting.request.kind === 'write') afterRequestId = waiting.id;
    }
  }

  /** Returns the promise of a request that no longer waits. */
  private take(waiting: Waiting): PromiseWithResolvers<unknown> {
    this.waitingById.delete(waiting.id);
    return waiting.settle;
  }

  private remainingMs({ startedAwakeMs }: Waiting): number {
    return startedAwakeMs + REQUEST_DEADLINE_MS - this.awakeMs();
  }

  /** One timer for all requests, which repeats those without a response, and fails those after their deadline. */
  private watch(): void {
    this.cancelTimer?.();
    this.cancelTimer = null;
    if (this.waitingById.size === 0 || this.isPaused) return;
    let delayMs = RESEND_INTERVAL_MS;
    for (const waiting of this.waitingById.values()) delayMs = Math.min(delayMs, this.remainingMs(waiting));
    this.cancelTimer = this.options.clock.after(Math.max(0, delayMs), () => {
      this.giveUpOverdue();
      this.askForAll();
      this.watch();
    });
  }

  private giveUpOverdue(): void {
    for (const waiting of this.waitingById.values()) {
      if (waiting.hasBegun) waiting.startedAwakeMs = this.awakeMs();
      if (this.remainingMs(waiting) > 0) continue;
      const { timesAsked, leadersAsked } = waiting;
      this.take(waiting).reject(
        new RockpoolError('leader-unreachable', { waitedMs: REQUEST_DEADLINE_MS, timesAsked, leadersAsked }),
      );
    }
  }
}

function isOfTransaction(request: LeaderRequest): boolean {
  return request.kind === 'step' || (request.kind === 'write' && request.action?.kind === 'commit-transaction');
}
