import {
  decodeClientMessage,
  encodeMessage,
  FrameAssembler,
  MAX_HELLO_BYTES,
  MAX_MESSAGE_BYTES,
  messageToFrames,
  PROTOCOL_FLOOR,
  PROTOCOL_VERSION,
  RockpoolError,
  toRockpoolError,
  type ClientMessage,
  type Hello,
  type Push,
} from '@rockpool/shared';
import { requireDatabase } from '../auth/database-id.ts';
import type { Authenticate, Grant } from '../auth/grant.ts';
import type { LiveDatabase, Subscriber } from '../fanout/live-database.ts';
import { errorFields, type Log } from '../observe/log-line.ts';
import { SendQueue } from './send-queue.ts';
import { messageProblem, overdue, type SessionLimits, type SessionPhase } from './session-rules.ts';
import type { SessionSocket } from './session-socket.ts';

/** WebSocket close code after a failure message. The reason repeats the error code, for a client that missed the message. */
export const CLOSE_FAILURE = 4000;

/** Pushes of one session that wait for their commit: more, and its socket is not read until they are through. */
const MAX_WAITING_PUSH_BYTES = 8 * 1024 * 1024;

/** Messages that may wait for the answer to the hello: what fits into one read of the socket. */
const MAX_HELD_MESSAGES = 1_000;

export interface SessionContext {
  readonly schemaHash: string;
  readonly authenticate: Authenticate;
  /** Throws where the database cannot be opened. */
  readonly openDatabase: (databaseId: string) => LiveDatabase;
  readonly now: () => number;
  readonly log: Log;
  readonly limits: SessionLimits;
  readonly onClosed: (session: Session) => void;
}

/**
 * One WebSocket of one site. Whatever goes wrong in it becomes a failure message and its end; nothing of it reaches another session
 * or the process.
 */
export class Session implements Subscriber {
  site = '';
  private readonly socket: SessionSocket;
  private readonly context: SessionContext;
  private readonly queue: SendQueue;
  private readonly assembler = new FrameAssembler(MAX_HELLO_BYTES);
  private readonly openedAtMs: number;
  private phase: SessionPhase = 'awaiting-hello';
  private lastHeardMs: number;
  private databaseId = '';
  private database: LiveDatabase | null = null;
  private grant: Grant | null = null;
  private held: ClientMessage[] = [];
  private waitingPushBytes = 0;

  constructor(socket: SessionSocket, context: SessionContext) {
    this.socket = socket;
    this.context = context;
    this.queue = new SendQueue(socket);
    this.openedAtMs = context.now();
    this.lastHeardMs = this.openedAtMs;
  }

  receive(frame: Uint8Array): void {
    if (this.phase === 'closed') return;
    this.lastHeardMs = this.context.now();
    try {
      const message = this.assembler.add(frame);
      if (message !== null) this.accept(decodeClientMessage(message));
    } catch (error) {
      this.fail(toRockpoolError(error));
    }
  }

  send(message: Uint8Array): void {
    if (this.phase === 'closed') return;
    try {
      this.queue.send(message);
    } catch (error) {
      this.fail(toRockpoolError(error));
    }
  }

  fail(error: RockpoolError): void {
    if (this.phase === 'closed') return;
    const { code, fields } = error;
    if (code === 'internal') this.context.log('session-error', { database: this.databaseId, ...errorFields(error) });
    else this.context.log('session-failed', { database: this.databaseId, site: this.site, code });
    this.end();
    // Past the queue: a slow client may never read it, and is told by the close reason as well.
    for (const frame of messageToFrames(encodeMessage({ type: 'failure', code, fields }))) this.socket.send(frame);
    this.socket.close(CLOSE_FAILURE, code);
  }

  /** The connection is gone. */
  disconnected(): void {
    if (this.phase === 'closed') return;
    this.context.log('session-ended', { database: this.databaseId, site: this.site });
    this.end();
  }

  /** The server stops: the client shall connect again, to it or another. */
  goAway(): void {
    if (this.phase === 'closed') return;
    this.end();
    this.socket.close(1001, 'server stops');
  }

  /** Called every second or so. */
  checkDeadlines(nowMs: number): void {
    const problem = this.overdue(nowMs);
    if (problem === null) return;
    if (problem !== 'silent') return this.fail(new RockpoolError(problem));
    this.context.log('session-silent', { database: this.databaseId, site: this.site, phase: this.phase });
    this.end();
    this.socket.terminate();
  }

  private overdue(nowMs: number): ReturnType<typeof overdue> {
    const { phase, openedAtMs, lastHeardMs } = this;
    return overdue({ phase, openedAtMs, lastHeardMs, expiresAtMs: this.grant?.expiresAtMs ?? Infinity }, this.context.limits, nowMs);
  }

  private accept(message: ClientMessage): void {
    const problem = messageProblem(this.phase, message.type, this.grant?.access === 'write');
    if (problem === 'held') {
      if (this.held.length >= MAX_HELD_MESSAGES) throw new RockpoolError('frame-unexpected', { problem: 'too much before the welcome' });
      this.held.push(message);
      return;
    }
    if (problem !== null) throw new RockpoolError(problem, { message: message.type });
    // The timer looks once a second; nothing is done for a token in between.
    if (this.overdue(this.lastHeardMs) === 'auth-token-expired') throw new RockpoolError('auth-token-expired');
    switch (message.type) {
      case 'hello':
        return this.greet(message);
      case 'push':
        return this.push(message);
      case 'confirm':
        return this.database?.confirm(this, message.cursor, message.decidedUpTo);
      case 'audit':
        return this.database?.audit(this, message, (tableIds) => this.context.log('audit-differs', { database: this.databaseId, site: this.site, tables: tableIds.length }));
      case 'renew-token':
        return this.renew(message.token);
      case 'ping':
        return this.send(encodeMessage({ type: 'pong', serverNowMs: this.lastHeardMs }));
    }
  }

  private greet(hello: Hello): void {
    const { protocolVersion, schemaHash } = hello;
    if (protocolVersion < PROTOCOL_FLOOR || protocolVersion > PROTOCOL_VERSION) {
      throw new RockpoolError('protocol-version', { received: protocolVersion, floor: PROTOCOL_FLOOR, newest: PROTOCOL_VERSION });
    }
    this.phase = 'authenticating';
    this.socket.pause();
    this.settle(async () => {
      const grant = await this.authenticate(hello.token);
      if (this.phase !== 'authenticating') return;
      requireDatabase(grant, hello.databaseId);
      if (schemaHash !== this.context.schemaHash) throw new RockpoolError('schema-mismatch');
      this.open(hello, grant);
    });
  }

  private open(hello: Hello, grant: Grant): void {
    this.site = Buffer.from(hello.siteId).toString('hex');
    this.databaseId = hello.databaseId;
    this.grant = grant;
    this.phase = 'open';
    this.assembler.setMaxMessageBytes(MAX_MESSAGE_BYTES);
    this.database = this.context.openDatabase(hello.databaseId);
    this.context.log('session-opened', { database: this.databaseId, site: this.site, access: grant.access });
    this.database.join(this, hello, { canWrite: grant.access === 'write', nowMs: this.context.now() });
    this.socket.resume();
    const held = this.held;
    this.held = [];
    for (const message of held) if (this.isOpen()) this.accept(message);
  }

  private push(push: Push): void {
    const { grant, database } = this;
    if (grant === null || database === null) return;
    let sizeBytes = 0;
    for (const { body } of push.changesets) sizeBytes += body.length;
    this.waitingPushBytes += sizeBytes;
    if (this.waitingPushBytes > MAX_WAITING_PUSH_BYTES) this.socket.pause();
    database.push(this, push, { principal: grant.principal, receivedMs: this.lastHeardMs }, (refusal) => {
      this.waitingPushBytes -= sizeBytes;
      if (refusal !== null) this.fail(refusal);
      else if (this.isOpen() && this.waitingPushBytes <= MAX_WAITING_PUSH_BYTES) this.socket.resume();
    });
  }

  /** The new token must be of the same principal and open the same database. */
  private renew(token: string): void {
    this.settle(async () => {
      const grant = await this.authenticate(token);
      if (!this.isOpen()) return;
      requireDatabase(grant, this.databaseId);
      if (grant.principal !== this.grant?.principal) throw new RockpoolError('auth-token-invalid', { problem: 'another principal' });
      this.grant = grant;
      this.context.log('token-renewed', { database: this.databaseId, site: this.site });
    });
  }

  private async authenticate(token: string): Promise<Grant> {
    try {
      return await this.context.authenticate(token);
    } catch (error) {
      if (error instanceof RockpoolError) throw error;
      this.context.log('authenticate-error', errorFields(error));
      throw new RockpoolError('auth-token-invalid');
    }
  }

  private settle(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.fail(toRockpoolError(error)));
  }

  private isOpen(): boolean {
    return this.phase === 'open';
  }

  private end(): void {
    this.phase = 'closed';
    this.held = [];
    this.database?.leave(this);
    this.context.onClosed(this);
  }
}
