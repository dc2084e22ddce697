import {
  decodeClientMessage,
  encodeMessage,
  FrameAssembler,
  MAX_HELLO_BYTES,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  RockpoolError,
  toRockpoolError,
  type ClientMessage,
  type Hello,
  type Push,
} from '@rockpool/shared';
import { refusalOf, type Gate } from '../auth/gate.ts';
import { EVERY_DATABASE } from '../auth/member-store.ts';
import type { Principal } from '../auth/principal.ts';
import type { SessionDatabase } from '../database/live-database.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { errorFields, refusalFields, type LogFields, type Logger } from '../observe/log-line.ts';
import type { Tracing } from '../observe/tracing.ts';
import type { ServerMetrics } from '../observe/server-metrics.ts';
import { toStoreError } from '../store/store-failure.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import { ReceiveQueue, sizeInMemory, type ReceivedMessage } from './receive-queue.ts';
import { SendQueue } from './send-queue.ts';
import { Rate } from './rate.ts';
import type { SessionLimits } from './limits.ts';
import type { ConnectionQuota } from './connection-quota.ts';
import type { Devices, SessionFacts } from './devices.ts';
import {
  messageProblem,
  OPERATION_OF_MESSAGE,
  overdue,
  REAUTHORIZE_INTERVAL_MS,
  WELCOME_WITHIN_MS,
  type SessionPhase,
} from './session-rules.ts';
import type { SessionSocket } from './session-socket.ts';
import { unpack } from './unpack.ts';

/**
 * The WebSocket close code after a failure message. The reason repeats the error code for a client that missed the
 * message.
 */
export const CLOSE_FAILURE = 4000;

/** What all sessions of a server share. */
export interface SessionContext {
  readonly gate: Gate;
  /** The rows that a principal may read of a database. */
  readonly readableRows: (principal: Principal, databaseId: string) => ReadableRows;
  /** Throws if the database cannot be opened. */
  readonly openDatabase: (databaseId: string) => SessionDatabase | Promise<SessionDatabase>;
  /** Called when SQLite reports a damaged database file. */
  readonly onDamaged: (databaseId: string, error: RockpoolError) => void;
  /** The wall clock, ms since 1970. */
  readonly now: () => number;
  /** A clock for durations, in ms, which is never set. */
  readonly monotonicMs: () => number;
  readonly log: Logger;
  readonly limits: SessionLimits;
  readonly connectionQuota: ConnectionQuota;
  readonly metrics: ServerMetrics;
  /** Default: no spans are recorded. */
  readonly tracing?: Tracing | null;
  /** Default: session ends are not recorded. */
  readonly devices?: Devices | undefined;
  /** Called once the token is valid. Throws `too-many-connections`. */
  readonly onAuthenticated: (session: Session) => void;
  readonly onClosed: (session: Session) => void;
}

/**
 * One connection of one site. Any error in it becomes a failure message and ends it, without affecting other sessions
 * or the process.
 */
export class Session implements Subscriber {
  site = '';
  isRevoked = false;
  private readonly socket: SessionSocket;
  private readonly context: SessionContext;
  private readonly address: string | null;
  private readonly queue: SendQueue;
  private readonly waiting = new ReceiveQueue();
  private readonly assembler = new FrameAssembler(MAX_HELLO_BYTES);
  private readonly openedAtMs: number;
  private readonly beganMs: number;
  private readonly rate: Rate;
  private phase: SessionPhase = 'awaiting-hello';
  private lastHeardMs: number;
  // The same moment on the monotonic clock, as `beganMs` and `authorizedMs` are.
  private heardAtMs: number;
  private databaseId = '';
  private database: SessionDatabase | null = null;
  private principal: Principal | null = null;
  // Set once the principal may read the database.
  private device: Pick<SessionFacts, 'databaseId' | 'site' | 'principal'> | null = null;
  private confirmedCursor: number | null = null;
  private canWrite = false;
  private authorizedMs: number;
  // Later messages wait while an asynchronous permission check runs.
  private isAsking = false;
  // What counts towards the limit of the principal (ConnectionQuota).
  private countedBytes = 0;
  // One check at a time: a host that answers slowly must not get ever more questions.
  private isReauthorizing = false;
  // Whether rights changed while the session was joining, or while they were checked.
  private mustReauthorize = false;

  /**
   * `address`: that of the client (auth/client-address.ts). Null if it is unknown or that of this machine.
   */
  constructor(socket: SessionSocket, context: SessionContext, address: string | null) {
    this.socket = socket;
    this.context = context;
    this.address = address;
    const { frameBurst, framesPerSecond } = context.limits;
    this.queue = new SendQueue(socket, context.limits, context.monotonicMs);
    this.openedAtMs = this.lastHeardMs = context.now();
    this.beganMs = this.heardAtMs = this.authorizedMs = context.monotonicMs();
    this.rate = new Rate({ burst: frameBurst, perSecond: framesPerSecond }, this.beganMs);
  }

  /** Null until the principal may read the database. */
  get facts(): SessionFacts | null {
    const { device, address, canWrite, openedAtMs, lastHeardMs, confirmedCursor } = this;
    if (device === null) return null;
    return {
      ...device,
      address,
      isJoined: this.isOpen(),
      canWrite,
      openedAtMs,
      lastHeardMs,
      confirmedCursor,
      unreadBytes: this.queue.unreadBytes,
      waitingPushBytes: this.waiting.waitingPushBytes,
    };
  }

  get hasEnded(): boolean {
    return this.isClosed();
  }

  /** Whether the client has shown no valid token. */
  get isAnonymous(): boolean {
    return this.principal === null;
  }

  receive(frame: Uint8Array): void {
    if (this.phase === 'closed') return;
    this.heard();
    this.context.metrics.receivedBytes.add(frame.length);
    try {
      if (!this.rate.take(this.heardAtMs))
        throw new RockpoolError('rate-limited', { framesPerSecond: this.context.limits.framesPerSecond });
      const assembled = this.assembler.add(frame);
      this.waiting.partialBytes = assembled === null ? this.waiting.partialBytes + frame.length : 0;
      if (assembled === null) return this.countReceived();
      const bytes = this.isOpen() ? unpack(assembled) : assembled;
      const message = decodeClientMessage(bytes);
      this.accept({
        message,
        receivedMs: this.lastHeardMs,
        heardAtMs: this.heardAtMs,
        sizeBytes: sizeInMemory(message, bytes.length),
      });
      this.countReceived();
    } catch (error) {
      this.fail(this.asFailure(error));
    }
  }

  send(...messages: Uint8Array[]): void {
    if (this.phase === 'closed') return;
    try {
      this.queue.send(messages);
      for (const { length } of messages) this.context.metrics.sentBytes.add(length);
    } catch (error) {
      this.fail(toRockpoolError(error));
    }
  }

  fail(error: RockpoolError): void {
    if (this.phase === 'closed') return;
    const { code, fields } = error;
    this.isRevoked = code === 'auth-forbidden' || code === 'auth-database-forbidden';
    this.context.metrics.sessionsFailed.add(1, { code });
    if (code === 'internal') this.log('session-error', errorFields(error));
    else this.log('session-failed', error.cause === undefined ? refusalFields(error) : errorFields(error));
    this.end(error);
    // Bypasses the queue. The close reason repeats the code for a slow client that never reads the message.
    for (const frame of messageToFrames(encodeMessage({ type: 'failure', code, fields }))) this.socket.send(frame);
    this.socket.close(CLOSE_FAILURE, code);
  }

  /** The connection is closed. */
  disconnected(): void {
    if (this.phase === 'closed') return;
    // Otherwise a client without a token could fill the log.
    if (!this.isAnonymous) this.log('session-ended');
    this.end();
  }

  /** Closes the connection with code 1001. The client reconnects, to this server or another one. */
  goAway(reason: string): void {
    if (this.phase === 'closed') return;
    this.end();
    this.socket.close(1001, reason);
  }

  /** Called every second or so, with the time of the monotonic clock. */
  checkDeadlines(nowMs: number): void {
    const problem = this.overdue(nowMs);
    if (problem === null) return this.checkProgress(nowMs);
    if (problem === 'database-unavailable') this.log('welcome-overdue', { withinMs: WELCOME_WITHIN_MS });
    if (problem !== 'silent') return this.fail(new RockpoolError(problem));
    this.context.metrics.socketsCut.add(1, { reason: 'silent' });
    this.log('session-silent', { phase: this.phase });
    this.end();
    this.socket.terminate();
  }

  private checkProgress(nowMs: number): void {
    try {
      this.queue.requireProgress(nowMs);
      this.reauthorize(nowMs);
    } catch (error) {
      this.fail(toRockpoolError(error));
    }
  }

  /** Checks the session's rights now, if they may have changed: those in this database, or by default in all. */
  reauthorizeNow(databaseId: string = EVERY_DATABASE): void {
    if (databaseId === EVERY_DATABASE || databaseId === this.databaseId || !this.isOpen()) this.reauthorize(Infinity);
  }

  /**
   * Before the token is checked, `database` and `site` are only what the client claims, so they are empty in the log.
   */
  private log(event: string, fields: LogFields = {}): void {
    const { databaseId, site, principal, address } = this;
    this.context.log(event, {
      database: databaseId,
      site,
      principal: principal?.id ?? null,
      address,
      ...fields,
    });
  }

  private overdue(nowMs: number): ReturnType<typeof overdue> {
    const { phase, beganMs, context } = this;
    // A client that reads a large delivery without a pause sends nothing meanwhile.
    const heardAtMs = Math.max(this.heardAtMs, this.queue.drainedMs);
    return overdue(
      { phase, beganMs, heardAtMs, expiresAtMs: this.principal?.expiresAtMs ?? Infinity },
      context.limits,
      { wallMs: context.now(), monotonicMs: nowMs },
    );
  }

  private accept(received: ReceivedMessage): void {
    const { message } = received;
    this.context.metrics.messagesReceived.add(1, { type: message.type });
    const problem = this.isAsking ? 'held' : messageProblem(this.phase, message.type);
    if (problem === 'held') return this.waiting.hold(received, this.isAnonymous);
    if (problem !== null) throw new RockpoolError(problem, { message: message.type });
    if (message.type === 'hello') return this.greet(message);
    // The deadline timer runs once a second, but an expired token must not be used in between.
    if (this.overdue(this.heardAtMs) === 'auth-token-expired') throw new RockpoolError('auth-token-expired');
    const { principal, databaseId } = this;
    if (principal === null) return;
    const operation = OPERATION_OF_MESSAGE[message.type];
    const allowed = this.context.gate.allows(principal, databaseId, operation);
    if (typeof allowed === 'boolean') return this.perform(message, received, allowed);
    this.isAsking = true;
    this.waiting.askedBytes = received.sizeBytes;
    this.socket.pause();
    this.settle(async () => {
      const answer = await allowed.finally(() => this.answered());
      // Cleared together with the start of `perform`: a message that arrived between them would be handled first.
      this.isAsking = false;
      if (!this.isOpen()) return;
      this.perform(message, received, answer);
      this.resume();
      this.acceptHeld();
    });
  }

  private answered(): void {
    this.waiting.askedBytes = 0;
    this.countReceived();
  }

  private acceptHeld(): void {
    for (const received of this.waiting.takeHeld()) if (this.isOpen()) this.accept(received);
    this.countReceived();
  }

  private perform(message: Exclude<ClientMessage, Hello>, received: ReceivedMessage, allowed: boolean): void {
    if (!allowed) throw new RockpoolError(refusalOf(OPERATION_OF_MESSAGE[message.type]));
    switch (message.type) {
      case 'push':
        return this.push(message, received);
      case 'confirm':
        this.database?.confirm(this, message.cursor, message.lastAckedSequence);
        this.confirmedCursor = message.cursor;
        return;
      case 'audit':
        return this.database?.audit(this, message, (tableIds) =>
          this.log('audit-differs', { tables: tableIds.length }),
        );
      case 'presence':
        if (this.principal !== null)
          this.database?.show(this, message, { principal: this.principal, nowMs: received.receivedMs });
        return;
      case 'renew-token':
        return this.renew(message.token);
      case 'ping':
        // To its client, a session that receives nothing more would look alive.
        if (this.database?.serves(this) !== true)
          throw new RockpoolError('database-unavailable', { problem: 'the database no longer serves the session' });
        return this.send(encodeMessage({ type: 'pong', serverNowMs: this.lastHeardMs }));
    }
  }

  private greet(hello: Hello): void {
    const { databaseId } = hello;
    const { gate } = this.context;
    this.phase = 'authenticating';
    this.socket.pause();
    this.settle(async () => {
      const askedMs = performance.now();
      const principal = await gate.authenticate(hello.token, askedMs);
      await gate.require(principal, databaseId, 'read', askedMs);
      const site = Buffer.from(hello.siteId).toString('hex');
      this.device = { databaseId, site, principal: principal.id };
      const canWrite = await gate.allows(principal, databaseId, 'write', askedMs);
      if (this.phase !== 'authenticating') return;
      this.site = site;
      await this.open(hello, principal, canWrite);
    });
  }

  private async open(hello: Hello, principal: Principal, canWrite: boolean): Promise<void> {
    this.context.onAuthenticated(this);
    this.context.connectionQuota.enter(principal.id);
    this.databaseId = hello.databaseId;
    this.principal = principal;
    this.canWrite = canWrite;
    this.authorizedMs = this.context.monotonicMs();
    const database = await this.context.openDatabase(hello.databaseId);
    await database.catchUp();
    if (this.isClosed()) return;
    // From here on the end of the session also ends an unfinished join.
    this.database = database;
    const { readableRows, now } = this.context;
    const rows = readableRows(principal, hello.databaseId);
    await database.join(this, hello, { principal, canWrite, rows, nowMs: now() });
    if (this.isClosed()) return database.leave(this);
    this.phase = 'open';
    // The socket was paused, so nothing that the client sent meanwhile has been read.
    this.heard();
    this.assembler.setMaxMessageBytes(MAX_MESSAGE_BYTES);
    this.context.metrics.sessionsOpened.add();
    this.log('session-opened', { canWrite });
    this.socket.resume();
    if (this.mustReauthorize) this.reauthorizeNow();
    this.acceptHeld();
  }

  private push(push: Push, { receivedMs, heardAtMs, sizeBytes }: ReceivedMessage): void {
    const { principal, database } = this;
    if (principal === null || database === null) return;
    this.waiting.beginPush(sizeBytes);
    try {
      this.countReceived();
    } catch (error) {
      this.waiting.endPush(sizeBytes);
      throw error;
    }
    if (this.waiting.isFull) this.socket.pause();
    const { metrics, monotonicMs } = this.context;
    const traced = this.context.tracing?.push({
      databaseId: this.databaseId,
      site: this.site,
      sequence: push.changesets.at(-1)?.sequence ?? 0,
      changesets: push.changesets.length,
      sizeBytes: push.changesets.reduce((sum, { body }) => sum + body.length, 0),
    });
    database.push(this, push, { principal: principal.id, receivedMs, trace: traced?.trace }, (refusal) => {
      this.waiting.endPush(sizeBytes);
      this.countReceived();
      traced?.end(refusal?.code ?? null);
      metrics.pushDurations.add(monotonicMs() - heardAtMs);
      metrics.changesetsPushed.add(push.changesets.length);
      if (refusal?.code === 'quota-exceeded' || refusal?.code === 'server-disk-full')
        metrics.quotaRefusals.add(1, { quota: String(refusal.fields['quota'] ?? 'disk') });
      if (refusal !== null) this.fail(refusal);
      else this.resume();
    });
  }

  /**
   * Throws `rate-limited`. Before the token is known to be valid, other limits apply (receive-queue.ts). What outlives
   * the session counts until it is finished.
   */
  private countReceived(): void {
    const { principal, countedBytes } = this;
    const bytes = this.isClosed() ? this.waiting.outlivingBytes : this.waiting.bytes;
    if (principal === null || bytes === countedBytes) return;
    this.countedBytes = bytes;
    this.context.connectionQuota.receive(principal.id, bytes - countedBytes);
  }

  /** Resumes reading unless a permission check or too many pushes are pending. */
  private resume(): void {
    if (this.isOpen() && !this.isAsking && !this.waiting.isFull) this.socket.resume();
  }

  /** Replaces the token with one of the same principal that opens the same database. */
  private renew(token: string): void {
    const { gate } = this.context;
    this.settle(async () => {
      const principal = await gate.authenticate(token);
      await gate.require(principal, this.databaseId, 'read');
      if (!this.isOpen()) return;
      if (principal.id !== this.principal?.id)
        throw new RockpoolError('auth-token-invalid', { problem: 'the new token names a different principal' });
      this.principal = principal;
      this.log('token-renewed');
    });
  }

  /**
   * Ends a session that has lost its right to read, and makes a session reconnect if its right to write has changed.
   */
  private reauthorize(nowMs: number): void {
    const { principal, databaseId } = this;
    const mustWait = !this.isOpen() || this.isReauthorizing;
    this.mustReauthorize ||= nowMs === Infinity && mustWait;
    if (principal === null || mustWait || nowMs - this.authorizedMs < REAUTHORIZE_INTERVAL_MS) return;
    this.authorizedMs = this.context.monotonicMs();
    this.mustReauthorize = false;
    this.isReauthorizing = true;
    const { gate } = this.context;
    this.settle(async () => {
      await gate.require(principal, databaseId, 'read');
      const canWrite = await gate.allows(principal, databaseId, 'write');
      this.isReauthorizing = false;
      if (this.mustReauthorize) this.reauthorizeNow();
      // The client reconnects, because the welcome granted other rights.
      if (!this.isOpen() || canWrite === this.canWrite) return;
      this.isRevoked = !canWrite;
      this.goAway('rights changed');
    });
  }

  private settle(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.fail(this.asFailure(error)));
  }

  /** Takes the database offline if SQLite has just found its file damaged. */
  private asFailure(error: unknown): RockpoolError {
    const failure = toStoreError(error);
    if (failure.code === 'database-damaged' && failure !== error) this.context.onDamaged(this.databaseId, failure);
    return failure;
  }

  private heard(): void {
    this.lastHeardMs = this.context.now();
    this.heardAtMs = this.context.monotonicMs();
  }

  private isOpen(): boolean {
    return this.phase === 'open';
  }

  /** The phase may have changed during an await. */
  private isClosed(): boolean {
    return this.phase === 'closed';
  }

  private end(error: RockpoolError | null = null): void {
    this.phase = 'closed';
    this.remember(error);
    this.waiting.takeHeld();
    this.queue.clear();
    this.database?.leave(this);
    this.countReceived();
    if (this.principal !== null) this.context.connectionQuota.leave(this.principal.id);
    this.context.onClosed(this);
  }

  private remember(error: RockpoolError | null): void {
    const { device, context, address } = this;
    if (device === null) return;
    const { site, principal } = device;
    context.devices?.ended(device.databaseId, {
      site,
      principal,
      address,
      endedAtMs: context.now(),
      error,
    });
  }
}
