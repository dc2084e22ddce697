import { DELIVERY_PART_BYTES, type Audit, type Hello, type Presence, type Push, RockpoolError } from '@rockpool/shared';
import { QUOTAS, UNLIMITED_ROOM, type Quotas, type Room } from '../admission/quotas.ts';
import { PushQueue } from '../admission/push-queue.ts';
import type { Validate } from '../admission/validate.ts';
import { TableAudits } from '../audit/table-audits.ts';
import type { DocumentPool } from '../documents/document-pool.ts';
import { Deliveries } from '../fanout/deliveries.ts';
import { FanOut, type PreparedUpdate } from '../fanout/fan-out.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { RETENTION, type Retention } from '../log/retention.ts';
import { foreignKeyChecks } from '../merge/foreign-keys.ts';
import { traceNowMs, type FollowedCommit } from '../observe/push-trace.ts';
import type { PresenceRelay } from '../presence/presence-relay.ts';
import { PresenceRoom, type PresenceSender } from '../presence/presence-room.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { KnownSchemas } from '../store/known-schemas.ts';
import { durableInFile, type OpenDatabase } from '../store/durability.ts';
import { toStoreError } from '../store/store-failure.ts';
import { writeFromBackend, type BackendRowWrite } from './backend-writes.ts';
import { CommitWaiters } from './commit-waiters.ts';
import { Joining, type Access } from './joining.ts';
import { SessionAudits } from './session-audits.ts';
import { SessionPushes, type PushAuthor } from './session-pushes.ts';
import { Sessions } from './sessions.ts';

export interface LiveDatabaseOptions {
  /** Called for unexpected failures: a file that cannot be written, a bug. */
  readonly onFailure: (error: unknown) => void;
  readonly retention?: Retention;
  readonly quotas?: Quotas;
  /** Default: the maximum that the quotas allow. */
  readonly room?: Room;
  readonly validate?: Validate | null;
  /** The schemas of clients that are served besides the schema of the database. Default: none. */
  readonly schemas?: KnownSchemas;
  /** See AdmissionRules. */
  readonly turnMs?: number | undefined;
  /** Presence at the other instances of the server. Default: a server of one instance. */
  readonly presenceRelay?: PresenceRelay | null;
  /** See shared/protocol/limits.ts. */
  readonly deliveryPartBytes?: number | undefined;
  /** Threads for large documents. Default: all work on documents is done on this thread. */
  readonly documentPool?: DocumentPool | null;
  /** Whether a client that needs the full state should download a snapshot instead. Default: never. */
  readonly offersSnapshot?: () => boolean;
  /** Called when a traced commit of another instance has reached the sessions of this one. */
  readonly onFollowed?: (followed: Omit<FollowedCommit, 'databaseId'>) => void;
}

/**
 * One open database and its sessions.
 *
 *   hello ─► joining ─► welcome and first delivery
 *   push ──► queue ─► one transaction ─► commit (durable) ─► fan-out to every session
 *
 * Each commit queues its delivery to every session at once, so a session's cursor is the end of the log before the next
 * push is read.
 */
export class LiveDatabase {
  readonly file: DatabaseFile;
  private readonly database: OpenDatabase;
  private readonly onFailure: (error: unknown) => void;
  private readonly onFollowed: NonNullable<LiveDatabaseOptions['onFollowed']>;
  private readonly sessions = new Sessions();
  private readonly commitWaiters = new CommitWaiters();
  private readonly queue: PushQueue;
  private readonly joining: Joining;
  private readonly pushes: SessionPushes;
  private readonly fanOut: FanOut;
  private readonly tableAudits: TableAudits;
  private readonly audits: SessionAudits;
  private readonly presence: PresenceRoom;
  // The number of waiting calls of `read`. A caller may join only afterwards, and the database must stay open until
  // then.
  private reading = 0;
  // Set while the database is being closed for an operator: pushes then wait for the next session.
  private isEnding = false;
  // The pushes that arrived since then. They are refused once the sessions have ended.
  private readonly undecided: ((refusal: RockpoolError) => void)[] = [];
  private ended: RockpoolError | null = null;

  /** A commit to a plain DatabaseFile counts as durable at once. */
  constructor(
    database: DatabaseFile | OpenDatabase,
    {
      onFailure,
      retention = RETENTION,
      quotas = QUOTAS,
      room = UNLIMITED_ROOM,
      validate = null,
      schemas = new KnownSchemas(),
      turnMs,
      presenceRelay = null,
      deliveryPartBytes = DELIVERY_PART_BYTES,
      documentPool = null,
      offersSnapshot = () => false,
      onFollowed = () => undefined,
    }: LiveDatabaseOptions,
  ) {
    this.database = 'file' in database ? database : durableInFile(database);
    const { sessions } = this;
    const { file } = this.database;
    this.file = file;
    this.onFailure = onFailure;
    this.onFollowed = onFollowed;
    if (documentPool !== null) file.documents.use(documentPool);
    const onSessionFailure = (subscriber: Subscriber, error: unknown): void => this.sessionFailed(subscriber, error);
    const deliveries = new Deliveries(file, deliveryPartBytes);
    this.fanOut = new FanOut({
      file,
      deliveries,
      subscribed: () => sessions.subscribed(),
      onFailure: onSessionFailure,
    });
    this.queue = new PushQueue({
      database: this.database,
      rules: { checks: foreignKeyChecks(file.tableByName), retention, quotas, room, validate, turnMs },
      onDecided: (authors) => {
        const prepared = this.fanOut.prepare(authors);
        return () => this.publish(authors, prepared);
      },
      onCommitted: (authors) => this.publish(authors),
      onFailure,
    });
    this.joining = new Joining({
      database: this.database,
      queue: this.queue,
      sessions,
      deliveries,
      requireOpen: () => this.requireOpen(),
      schemas,
      endOlderEpochs: () => this.fanOut.endOlderEpochs(),
      offersSnapshot,
    });
    this.pushes = new SessionPushes(file, this.queue, sessions);
    this.tableAudits = new TableAudits(file);
    this.audits = new SessionAudits(this.tableAudits, sessions, onSessionFailure);
    this.presence = new PresenceRoom(presenceRelay);
  }

  /** Whether the file may be closed: no session, no waiting caller, no running commit. */
  get isIdle(): boolean {
    return (
      this.reading === 0 &&
      this.sessions.isEmpty &&
      this.commitWaiters.isEmpty &&
      this.queue.isEmpty &&
      this.database.settling() === null
    );
  }

  /** See Joining.join. Call `catchUp` first. */
  join(subscriber: Subscriber, hello: Hello, access: Access): Promise<void> | void {
    return this.joining.join(subscriber, hello, access);
  }

  /** Whether a session receives what its client waits for. A session that has joined is served until it ends. */
  serves(subscriber: Subscriber): boolean {
    return this.ended === null && this.sessions.has(subscriber);
  }

  leave(subscriber: Subscriber): void {
    this.sessions.remove(subscriber);
    this.presence.leave(subscriber);
  }

  /** See SessionPushes.push. */
  push(subscriber: Subscriber, push: Push, author: PushAuthor, settled: (refusal: RockpoolError | null) => void): void {
    if (this.isEnding) this.undecided.push(settled);
    else this.pushes.push(subscriber, push, author, settled);
  }

  /** Throws `frame-unexpected` for a confirmation of a delivery or an outcome that was never sent. */
  confirm(subscriber: Subscriber, cursor: number, lastAckedSequence: number): void {
    if (!this.isEnding) this.pushes.confirm(subscriber, cursor, lastAckedSequence);
  }

  /** Sends the response later. Throws `frame-unexpected` while an audit of this session is running. */
  audit(subscriber: Subscriber, audit: Audit, onDifference: (tableIds: readonly number[]) => void): void {
    this.audits.audit(subscriber, audit, onDifference);
  }

  /**
   * Takes the presence of a session's tabs. The first call also subscribes the session to the presence of others.
   * Throws `presence-invalid`.
   */
  show(subscriber: Subscriber, { states }: Presence, sender: PresenceSender): void {
    const subscription = this.sessions.subscriptionOf(subscriber);
    if (subscription !== undefined) this.presence.show(subscriber, sender, states, subscription.filter);
  }

  /**
   * Applies the commits of other instances to the file, and resolves once the file's content is durable. Await it
   * before `join`, and before anything read from the file is sent.
   */
  catchUp(): Promise<void> {
    return this.read(() => undefined);
  }

  /**
   * Catches up, then runs `body` in the same turn of the event loop, so that everything `body` reads is durable and may
   * be sent. In a later turn another commit may be under way.
   */
  async read<Result>(body: () => Result): Promise<Result> {
    this.reading++;
    try {
      await this.database.catchUp();
      // Commits that begin during the wait must become durable as well.
      for (let settling = this.database.settling(); settling !== null; settling = this.database.settling())
        await settling;
      this.requireOpen();
      return body();
    } finally {
      this.reading--;
    }
  }

  /** Decides everything pushed so far, or starts to, if commits are asynchronous. */
  settle(): void {
    void this.queue.drainAll();
  }

  /** See writeFromBackend. */
  write(body: Uint8Array, principal: string, nowMs: number, rows: readonly BackendRowWrite[] = []): Promise<number> {
    if (this.isEnding) return Promise.reject(new RockpoolError('database-unavailable'));
    return writeFromBackend(this.file, this.queue, { body, rows, principal, nowMs });
  }

  /**
   * Publishes commits of other instances, above `from`, that the file has caught up to. A session ends if its site has
   * written there: either the client has left it, or a copy of the client's file is in use, and the session would
   * mistake its rows for its own, even while a push of the session is being decided. The next hello shows which.
   */
  followed(from: number, traceparent?: string): void {
    const startMs = traceparent === undefined ? 0 : traceNowMs();
    // Up to `from`, this instance may have made commits of an unfinished push that are not published yet.
    for (const site of this.file.log.authorsAfter(from))
      for (const { subscriber } of this.sessions.ofSite(site)) subscriber.fail(new RockpoolError('session-replaced'));
    const sessions = this.publish(this.fanOut.unpublishedAuthors());
    if (traceparent !== undefined) this.onFollowed({ traceparent, startMs, endMs: traceNowMs(), sessions });
  }

  /**
   * Ends all sessions and closes the file, because the file differs from the stored state. Never throws: a damaged log
   * cannot be moved into the file, and the caller may be the commit that found the damage.
   */
  lose(error: RockpoolError): void {
    // A caller that waits for a commit must neither read the closed file nor wait for the next commit of it.
    this.ended ??= error;
    this.sessions.failAll(error);
    this.commitWaiters.wake(true);
    this.presence.close();
    this.tableAudits.close();
    try {
      this.database.close();
    } catch (failure) {
      this.onFailure(failure);
    }
  }

  /**
   * Decides all pushes, so that the outcomes reach their authors, then ends all sessions with the error and closes the
   * file. Calls that wait throw the error.
   */
  async end(error: RockpoolError): Promise<void> {
    this.isEnding = true;
    await this.queue.drainAll();
    this.ended = error;
    this.lose(error);
    for (const settled of this.undecided.splice(0)) settled(error);
  }

  /**
   * Resolves with true after the next commit, and after `lose`: the caller then opens the database again. Resolves with
   * false when the signal aborts or the database closes.
   */
  nextCommit(signal: AbortSignal): Promise<boolean> {
    return this.commitWaiters.next(signal);
  }

  /**
   * Decides the queued pushes, then closes the file. A session that has joined while the server stops ends: it would
   * stay connected and receive nothing.
   */
  close(): Promise<void> | void {
    this.ended ??= new RockpoolError('database-unavailable', { problem: 'the server has closed the database' });
    this.tableAudits.close();
    // A client sends again what is not decided, and a stopping server has half a minute.
    this.database.stopWaiting?.();
    const draining = this.queue.drainAll();
    if (draining !== null) return draining.then(() => this.close());
    this.sessions.failAll(this.ended);
    this.presence.close();
    this.commitWaiters.wake(false);
    this.database.close();
  }

  private requireOpen(): void {
    if (this.ended !== null) throw this.ended;
  }

  private publish(authors: ReadonlySet<string>, prepared: PreparedUpdate | null = null): number {
    this.commitWaiters.wake(true);
    return this.fanOut.publish(authors, prepared);
  }

  /** Ends one session, or all of them if the file is damaged. */
  private sessionFailed(subscriber: Subscriber, error: unknown): void {
    const failure = toStoreError(error);
    if (failure.code === 'database-damaged' && failure !== error) this.onFailure(failure);
    subscriber.fail(failure);
  }
}

/** The part of an open database that its sessions use. The database may be on another thread. */
export type SessionDatabase = Pick<
  LiveDatabase,
  'catchUp' | 'join' | 'serves' | 'leave' | 'push' | 'confirm' | 'audit' | 'show'
>;
