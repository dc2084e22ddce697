import type { RockpoolError } from '@rockpool/shared';
import type { LiveDatabase } from '../database/live-database.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import type { Outbox } from './outbox.ts';
import type { FromOwner, ToOwner } from './thread-messages.ts';

/** A session as the thread that owns its database uses it. The connection is on the accepting thread. */
export class OwnerSession implements Subscriber {
  readonly number: number;
  readonly site: string;
  readonly databaseId: string;
  hasEnded = false;
  isRevoked = false;
  /** Null until the session joins. */
  database: LiveDatabase | null = null;
  // The calls of the pushes that are queued. Null for most sessions, which only listen.
  private queued: Set<number> | null = null;
  private readonly outbox: Outbox<FromOwner>;
  private readonly onEnded: (session: OwnerSession) => void;

  constructor(
    { session, site, hello }: Pick<Extract<ToOwner, { readonly kind: 'join' }>, 'session' | 'site' | 'hello'>,
    outbox: Outbox<FromOwner>,
    onEnded: (session: OwnerSession) => void,
  ) {
    this.number = session;
    this.site = site;
    this.databaseId = hello.databaseId;
    this.outbox = outbox;
    this.onEnded = onEnded;
  }

  /** Only copies are sent between the threads. One copy serves all sessions that receive the same messages in a row. */
  send(...messages: Uint8Array[]): void {
    if (this.hasEnded) return;
    const { last } = this.outbox;
    if (last?.kind === 'send' && areSame(last.messages, messages)) last.sessions.push(this.number);
    else this.outbox.add({ kind: 'send', sessions: [this.number], messages });
  }

  beginPush(call: number): void {
    this.queued ??= new Set();
    this.queued.add(call);
  }

  endPush(call: number): void {
    this.queued?.delete(call);
    if (this.queued?.size === 0) this.queued = null;
  }

  fail(error: RockpoolError): void {
    if (this.hasEnded) return;
    this.end();
    this.outbox.add({ kind: 'failed', session: this.number, error: error.toData(), queued: [...(this.queued ?? [])] });
  }

  /** `isRevoked`: see Subscriber. */
  end(isRevoked: boolean = false): void {
    if (this.hasEnded) return;
    this.isRevoked = isRevoked;
    this.hasEnded = true;
    this.database?.leave(this);
    this.onEnded(this);
  }
}

function areSame(some: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  return some.length === others.length && some.every((message, i) => message === others[i]);
}
