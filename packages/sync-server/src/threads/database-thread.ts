import { Worker } from 'node:worker_threads';
import { RockpoolError, type Audit, type Hello, type Presence, type Push } from '@rockpool/shared';
import type { Access } from '../database/joining.ts';
import type { PushAuthor } from '../database/session-pushes.ts';
import type { SessionDatabase } from '../database/live-database.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { errorFields, type Logger } from '../observe/log-line.ts';
import type { FollowedCommit, TracedStage } from '../observe/push-trace.ts';
import type { PresenceSender } from '../presence/presence-room.ts';
import type { HistoryRequest } from '../history/answer-history.ts';
import type { PastMoment } from '../history/past-moment.ts';
import type { PastState } from '../history/past-states.ts';
import type { Snapshot } from '../snapshot/snapshots.ts';
import { Outbox } from './outbox.ts';
import {
  STATE_INTERVAL_MS,
  type FromOwner,
  type ThreadOptions,
  type ThreadState,
  type ToOwner,
} from './thread-messages.ts';

/**
 * A thread that ends within this time after its start would probably end again, so the next one starts only after the
 * same time.
 */
const RESTART_DELAY_MS = 1_000;

/** A thread that has closed its files is ended by force if it does not end within this time. */
const EXIT_PATIENCE_MS = 2_000;

/**
 * Room for new objects. Node's own limit, 48 to 192 MB depending on the version, fills with garbage in each thread
 * before V8 collects any of it (decision 0117).
 */
const YOUNG_GENERATION_MB = 6;

export interface DatabaseThreadEvents {
  readonly log: Logger;
  /** Called when the thread ended unexpectedly, and a new one replaces it. */
  readonly onRestart: () => void;
  /** Called when a traced commit of another instance has reached the sessions of the thread. */
  readonly onFollowed: (followed: FollowedCommit) => void;
  /** Called with each new thread, which must receive the messages that the earlier one has received. */
  readonly onStart: (thread: DatabaseThread) => void;
  readonly onCommit: (durationMs: number) => void;
}

interface Joined {
  readonly subscriber: Subscriber;
  /** Settles the join. Null once it is settled. */
  joining: { readonly resolve: () => void; readonly reject: (error: RockpoolError) => void } | null;
  onDifference: ((tableIds: readonly number[]) => void) | null;
}

/** Receives the decision about a push. */
type Settle = (refusal: RockpoolError | null, stages: readonly TracedStage[]) => void;

interface Call {
  readonly resolve: (answer: Snapshot | PastState | Uint8Array | null | undefined) => void;
  readonly reject: (error: RockpoolError) => void;
}

const IDLE: ThreadState = {
  ...{ openCount: 0, damagedCount: 0, loopDelaySeconds: 0, utilization: 0 },
  bus: null,
  backup: null,
};

/**
 * One thread that owns databases, as the accepting thread uses it. To a session, it is the database that the session's
 * hello names. If the thread ends unexpectedly, its sessions fail with `database-unavailable`, so that their clients
 * reconnect, and a new thread replaces it.
 */
export class DatabaseThread implements SessionDatabase {
  state: ThreadState = IDLE;
  private readonly options: ThreadOptions;
  private readonly events: DatabaseThreadEvents;
  private readonly script: URL;
  // Null while no thread runs.
  private worker: Worker | null = null;
  private readonly outbox: Outbox<ToOwner>;
  private readonly sessions = new Map<number, Joined>();
  private readonly numbers = new Map<Subscriber, number>();
  // The undecided pushes of each session, by call. They outlive the end of a session at the client's request, because
  // the owner still decides them.
  private readonly settles = new Map<number, Map<number, Settle>>();
  private readonly calls = new Map<number, Call>();
  private lastNumber = 0;
  private closing: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
  private started = Promise.withResolvers<void>();
  private startedMs = 0;
  // Null if the thread has not reported its state yet.
  private reportedMs: number | null = null;
  private restart: NodeJS.Timeout | null = null;

  constructor(
    options: ThreadOptions,
    events: DatabaseThreadEvents,
    script: URL = new URL('./database-worker.ts', import.meta.url),
  ) {
    this.options = options;
    this.events = events;
    this.script = script;
    this.outbox = new Outbox((messages) => this.worker?.postMessage(messages));
    this.started.promise.catch(() => undefined); // callers of `ready` receive the rejection
    this.start();
  }

  /**
   * The delay of the thread's event loop: that of the last report, or more if the next report is late, because the
   * thread has been busy with one task since.
   */
  get loopDelaySeconds(): number {
    const lateMs = this.reportedMs === null ? 0 : performance.now() - this.reportedMs - STATE_INTERVAL_MS;
    return Math.max(this.state.loopDelaySeconds, lateMs / 1_000);
  }

  get isRunning(): boolean {
    return this.worker !== null;
  }

  /** Resolves once the thread runs. Rejects if it cannot be started. */
  ready(): Promise<void> {
    return this.started.promise;
  }

  snapshot(databaseId: string, schemaHash: string): Promise<Snapshot | null> {
    return this.ask((call) => ({ kind: 'snapshot', call, databaseId, schemaHash }));
  }

  history(databaseId: string, request: HistoryRequest, nowMs: number): Promise<Uint8Array> {
    return this.ask((call) => ({ kind: 'history', call, databaseId, request, nowMs }));
  }

  pastState(databaseId: string, moment: PastMoment, nowMs: number): Promise<PastState> {
    return this.ask((call) => ({ kind: 'past-state', call, databaseId, moment, nowMs }));
  }

  /** Resolves once the thread has closed the database, or has ended, which closes it as well. */
  async hold(databaseId: string, error: RockpoolError): Promise<void> {
    const { worker } = this;
    if (worker === null) return;
    try {
      await this.ask((call) => ({ kind: 'hold', call, databaseId, error: error.toData() }));
    } catch (failure) {
      if (this.worker === worker) throw failure;
    }
  }

  /** Sends a message that has no response. */
  tell(message: Extract<ToOwner, { readonly kind: 'take-offline' | 'release' | 'limited-tenants' }>): void {
    this.outbox.add(message);
  }

  /** Decides all pushes, closes the files and ends the thread. */
  async close(): Promise<void> {
    if (this.restart !== null) clearTimeout(this.restart);
    if (this.closing === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.closing = { promise, resolve };
      if (this.worker === null) resolve();
      else this.outbox.add({ kind: 'close' });
    }
    await this.closing.promise;
  }

  private ask<Answer>(message: (call: number) => ToOwner): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (this.worker === null) return reject(unavailable());
      const call = ++this.lastNumber;
      this.calls.set(call, { resolve: resolve as Call['resolve'], reject });
      this.outbox.add(message(call));
    });
  }

  /** Does nothing: the owner catches up before it lets a session join. */
  catchUp(): Promise<void> {
    return Promise.resolve();
  }

  join(subscriber: Subscriber, hello: Hello, access: Access): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.worker === null) return reject(unavailable());
      const number = ++this.lastNumber;
      this.sessions.set(number, { subscriber, joining: { resolve, reject }, onDifference: null });
      this.numbers.set(subscriber, number);
      const { principal, canWrite, nowMs } = access;
      this.outbox.add({
        kind: 'join',
        session: number,
        site: subscriber.site,
        // The token was verified here.
        hello: { ...hello, token: '' },
        access: {
          principal: {
            id: principal.id,
            ...(principal.formerly !== undefined && { formerly: [...principal.formerly] }),
          },
          canWrite,
          nowMs,
        },
      });
    });
  }

  serves(subscriber: Subscriber): boolean {
    return this.numbers.has(subscriber);
  }

  leave(subscriber: Subscriber): void {
    const number = this.forget(subscriber);
    if (number === undefined) return;
    this.outbox.add({ kind: 'leave', session: number, isRevoked: subscriber.isRevoked === true });
  }

  private forget(subscriber: Subscriber): number | undefined {
    const number = this.numbers.get(subscriber);
    if (number === undefined) return undefined;
    this.numbers.delete(subscriber);
    this.sessions.get(number)?.joining?.resolve();
    this.sessions.delete(number);
    return number;
  }

  push(
    subscriber: Subscriber,
    push: Push,
    { principal, receivedMs, trace }: PushAuthor,
    settled: (refusal: RockpoolError | null) => void,
  ): void {
    this.ofSession(subscriber, (session) => {
      const call = ++this.lastNumber;
      const settles = this.settles.get(session) ?? new Map<number, Settle>();
      this.settles.set(session, settles);
      settles.set(call, (refusal, stages) => {
        trace?.stages.push(...stages);
        settled(refusal);
      });
      const { traceparent, startMs } = trace ?? {};
      return {
        ...{ kind: 'push', session, call, push, principal, receivedMs },
        trace: traceparent === undefined || startMs === undefined ? null : { traceparent, startMs },
      };
    });
  }

  confirm(subscriber: Subscriber, cursor: number, lastAckedSequence: number): void {
    this.ofSession(subscriber, (session) => ({ kind: 'confirm', session, cursor, lastAckedSequence }));
  }

  audit(subscriber: Subscriber, audit: Audit, onDifference: (tableIds: readonly number[]) => void): void {
    this.ofSession(subscriber, (session) => {
      const joined = this.sessions.get(session);
      if (joined !== undefined) joined.onDifference = onDifference;
      return { kind: 'audit', session, audit };
    });
  }

  show(subscriber: Subscriber, presence: Presence, { principal, nowMs }: PresenceSender): void {
    const { id, name } = principal;
    this.ofSession(subscriber, (session) => ({
      kind: 'show',
      session,
      presence,
      sender: { principal: { id, ...(name !== undefined && { name }) }, nowMs },
    }));
  }

  private ofSession(subscriber: Subscriber, message: (session: number) => ToOwner): void {
    const number = this.numbers.get(subscriber);
    if (number !== undefined) this.outbox.add(message(number));
  }

  private start(): void {
    this.startedMs = performance.now();
    const worker = new Worker(this.script, {
      workerData: this.options,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.worker = worker;
    let problem: unknown = null;
    worker.on('message', (messages: readonly FromOwner[]) => {
      if (this.worker === worker) for (const message of messages) this.receive(message);
    });
    // Keeps the error for the `exit` event, which follows.
    worker.on('error', (error) => (problem = error));
    worker.on('exit', (code) => this.ended(worker, code, problem));
    this.events.onStart(this);
  }

  private ended(worker: Worker, code: number, problem: unknown): void {
    if (this.worker !== worker) return;
    this.worker = null;
    this.state = IDLE;
    this.reportedMs = null;
    this.failAll();
    this.started.reject(
      new RockpoolError(
        'database-unavailable',
        { problem: 'a database thread exited unexpectedly' },
        { cause: problem },
      ),
    );
    if (this.closing !== null) return this.closing.resolve();
    this.events.log('thread-ended', { thread: this.options.index, exitCode: code, ...errorFields(problem) });
    this.events.onRestart();
    const livedMs = performance.now() - this.startedMs;
    if (livedMs >= RESTART_DELAY_MS) return this.start();
    this.restart = setTimeout(() => this.start(), RESTART_DELAY_MS - livedMs);
  }

  private failAll(): void {
    const sessions = [...this.sessions.values()];
    const calls = [...this.calls.values()];
    this.sessions.clear();
    this.numbers.clear();
    this.calls.clear();
    for (const { reject } of calls) reject(unavailable());
    for (const { subscriber, joining } of sessions) {
      joining?.reject(unavailable());
      subscriber.fail(unavailable());
    }
    for (const session of [...this.settles.keys()]) this.refusePushes(session, unavailable());
  }

  private receive(message: FromOwner): void {
    switch (message.kind) {
      case 'started':
        return this.started.resolve();
      case 'send':
        for (const session of message.sessions) this.sessions.get(session)?.subscriber.send(...message.messages);
        return;
      case 'joined':
        return this.joined(message.session);
      case 'failed':
        return this.failed(message.session, RockpoolError.fromData(message.error), new Set(message.queued));
      case 'settled':
        return this.settled(message);
      case 'audit-differs':
        return this.sessions.get(message.session)?.onDifference?.(message.tableIds);
      case 'snapshot':
        return this.answered(message.call)?.resolve(message.snapshot);
      case 'history':
        return this.answered(message.call)?.resolve(message.answer);
      case 'past-state':
        return this.answered(message.call)?.resolve(message.state);
      case 'held':
        return this.answered(message.call)?.resolve(undefined);
      case 'call-failed':
        return this.answered(message.call)?.reject(RockpoolError.fromData(message.error));
      case 'log':
        return this.events.log(message.event, message.fields);
      case 'followed':
        return this.events.onFollowed(message.followed);
      case 'commit-duration':
        return this.events.onCommit(message.durationMs);
      case 'state':
        this.state = message.state;
        this.reportedMs = performance.now();
        return;
      case 'closed':
        // The thread exits on its own. Its remaining work, such as an unfinished snapshot, is not awaited.
        setTimeout(() => void this.worker?.terminate(), EXIT_PATIENCE_MS).unref();
        return;
    }
  }

  private joined(number: number): void {
    const session = this.sessions.get(number);
    session?.joining?.resolve();
    if (session !== undefined) session.joining = null;
  }

  private answered(call: number): Call | undefined {
    const answered = this.calls.get(call);
    this.calls.delete(call);
    return answered;
  }

  private settled({ session, call, refusal, stages = [] }: Extract<FromOwner, { readonly kind: 'settled' }>): void {
    const settles = this.settles.get(session);
    const settle = settles?.get(call);
    settles?.delete(call);
    if (settles?.size === 0) this.settles.delete(session);
    settle?.(refusal === null ? null : RockpoolError.fromData(refusal), stages);
  }

  private failed(session: number, error: RockpoolError, queued: ReadonlySet<number>): void {
    const joined = this.sessions.get(session);
    if (joined !== undefined) {
      this.sessions.delete(session);
      this.numbers.delete(joined.subscriber);
      joined.joining?.reject(error);
      joined.subscriber.fail(error);
    }
    this.refusePushes(session, error, queued);
  }

  /**
   * Settles the undecided pushes of a session that the owner has ended, because the owner ignores those that it
   * receives afterwards. Those that it has queued are still in memory, and it decides them.
   */
  private refusePushes(session: number, error: RockpoolError, queued: ReadonlySet<number> = new Set()): void {
    const settles = this.settles.get(session);
    for (const [call, settle] of [...(settles ?? [])]) {
      if (queued.has(call)) continue;
      settles?.delete(call);
      settle(error, []);
    }
    if (settles?.size === 0) this.settles.delete(session);
  }
}

function unavailable(): RockpoolError {
  return new RockpoolError('database-unavailable', { problem: 'the thread that owns the database ended' });
}
