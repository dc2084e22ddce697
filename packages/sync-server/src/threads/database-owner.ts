import { RockpoolError } from '@rockpool/shared';
import type { DatabaseHost } from '../database/database-host.ts';
import type { LiveDatabase } from '../database/live-database.ts';
import { PushTrace } from '../observe/push-trace.ts';
import { toStoreError } from '../store/store-failure.ts';
import type { Outbox } from './outbox.ts';
import { OwnerSession } from './owner-session.ts';
import type { FromOwner, ToOwner } from './thread-messages.ts';

type Join = Extract<ToOwner, { readonly kind: 'join' }>;
type OfSession = Exclude<
  ToOwner,
  {
    readonly kind:
      | 'join'
      | 'snapshot'
      | 'history'
      | 'past-state'
      | 'take-offline'
      | 'hold'
      | 'release'
      | 'limited-tenants'
      | 'close';
  }
>;

/** The part of a server that runs on a thread of its own: databases, and the sessions that use them. */
export class DatabaseOwner {
  private readonly host: DatabaseHost;
  private readonly outbox: Outbox<FromOwner>;
  private readonly sessions = new Map<number, OwnerSession>();
  // A closure for each session would keep the hello of the session in memory.
  private readonly onEnded = ({ number }: OwnerSession): void => void this.sessions.delete(number);

  constructor(host: DatabaseHost, outbox: Outbox<FromOwner>) {
    this.host = host;
    this.outbox = outbox;
  }

  receive(message: Exclude<ToOwner, { readonly kind: 'limited-tenants' | 'close' }>): void {
    switch (message.kind) {
      case 'join':
        return this.join(message);
      case 'snapshot':
        return this.answer(message, async () => ({
          kind: 'snapshot',
          call: message.call,
          snapshot: await this.host.snapshot(message.databaseId, message.schemaHash, 'everything'),
        }));
      case 'history':
        return this.answer(message, async () => ({
          kind: 'history',
          call: message.call,
          answer: await this.host.history(message.databaseId, message.request, 'everything', message.nowMs),
        }));
      case 'past-state':
        return this.answer(message, async () => ({
          kind: 'past-state',
          call: message.call,
          state: await this.host.pastState(message.databaseId, message.moment, 'everything', message.nowMs),
        }));
      case 'take-offline':
        return this.host.takeOffline(message.databaseId, RockpoolError.fromData(message.error));
      case 'hold':
        return this.answer(message, async () => {
          await this.host.hold(message.databaseId, RockpoolError.fromData(message.error));
          return { kind: 'held', call: message.call };
        });
      case 'release':
        return this.host.release(message.databaseId);
      default:
        return this.ofSession(message);
    }
  }

  private answer(
    { call, databaseId }: { readonly call: number; readonly databaseId: string },
    answer: () => Promise<FromOwner>,
  ): void {
    answer().then(
      (message) => this.outbox.add(message),
      (error: unknown) =>
        this.outbox.add({ kind: 'call-failed', call, error: this.failureOf(databaseId, error).toData() }),
    );
  }

  private join(message: Join): void {
    const session = new OwnerSession(message, this.outbox, this.onEnded);
    this.sessions.set(message.session, session);
    this.begin(session, message).then(
      () => this.outbox.add({ kind: 'joined', session: message.session }),
      (error: unknown) => session.fail(this.failureOf(message.hello.databaseId, error)),
    );
  }

  private async begin(session: OwnerSession, { hello, access }: Join): Promise<void> {
    const database = await this.host.open(hello.databaseId);
    await database.catchUp();
    if (session.hasEnded) return;
    session.database = database;
    await database.join(session, hello, { ...access, rows: 'everything' });
    if (session.hasEnded) database.leave(session);
  }

  private ofSession(message: OfSession): void {
    const session = this.sessions.get(message.session);
    const database = session?.database;
    // Ignores a message for a session that has failed, if the accepting thread has not been notified yet.
    if (session === undefined || database === null || database === undefined) {
      if (message.kind === 'leave') session?.end(message.isRevoked);
      return;
    }
    try {
      switch (message.kind) {
        case 'leave':
          return session.end(message.isRevoked);
        case 'push':
          return this.push(session, database, message);
        case 'confirm':
          return database.confirm(session, message.cursor, message.lastAckedSequence);
        case 'audit':
          return database.audit(session, message.audit, (tableIds) =>
            this.outbox.add({ kind: 'audit-differs', session: message.session, tableIds }),
          );
        case 'show':
          return database.show(session, message.presence, message.sender);
      }
    } catch (error) {
      session.fail(this.failureOf(session.databaseId, error));
    }
  }

  private push(session: OwnerSession, database: LiveDatabase, message: Extract<ToOwner, { kind: 'push' }>): void {
    const trace = message.trace === null ? undefined : new PushTrace(message.trace);
    const { principal, receivedMs } = message;
    session.beginPush(message.call);
    database.push(session, message.push, { principal, receivedMs, trace }, (refusal) => {
      session.endPush(message.call);
      this.outbox.add({
        kind: 'settled',
        session: message.session,
        call: message.call,
        refusal: refusal?.toData() ?? null,
        ...(trace !== undefined && { stages: trace.stages }),
      });
    });
  }

  /** Takes the database offline if SQLite has just found its file damaged. */
  private failureOf(databaseId: string, error: unknown): RockpoolError {
    const failure = toStoreError(error);
    if (failure.code === 'database-damaged' && failure !== error) this.host.takeOffline(databaseId, failure);
    return failure;
  }
}
