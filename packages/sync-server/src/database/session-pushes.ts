import { RockpoolError, type Push } from '@rockpool/shared';
import type { Sender } from '../admission/admit-changeset.ts';
import { baseInEpoch } from '../admission/older-epoch.ts';
import type { PushQueue } from '../admission/push-queue.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { traceNowMs, type PushTrace } from '../observe/push-trace.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { Sessions } from './sessions.ts';

/** The sender of a push and the time of its receipt. */
export interface PushAuthor extends Pick<Sender, 'principal' | 'receivedMs'> {
  /** The trace that records the span of the push. */
  readonly trace?: PushTrace | undefined;
}

/**
 * Queues pushes and confirmations of sessions for their database, after checking them against what was sent to the
 * sessions.
 */
export class SessionPushes {
  private readonly file: DatabaseFile;
  private readonly queue: PushQueue;
  private readonly sessions: Sessions;

  constructor(file: DatabaseFile, queue: PushQueue, sessions: Sessions) {
    this.file = file;
    this.queue = queue;
    this.sessions = sessions;
  }

  /**
   * Calls `settled` with null once the push is decided and durable, or with the reason why it was refused as a whole.
   * Outcomes of single changesets are part of deliveries. Refuses a push with `cursor-ahead` if its author claims to
   * have seen more than was sent on this session.
   */
  push(subscriber: Subscriber, push: Push, author: PushAuthor, settled: (refusal: RockpoolError | null) => void): void {
    const isForeign = this.sessions.isForeign(subscriber);
    const subscription = this.sessions.subscriptionOf(subscriber);
    const beganUnwritten = subscription?.siteNumber === null;
    const delivered = isForeign ? Infinity : (subscription?.cursor ?? 0);
    const ahead = push.changesets.find(
      (changeset) => baseInEpoch(push, changeset, this.file.logEpoch.startedAt) > delivered,
    );
    if (ahead !== undefined) return settled(new RockpoolError('cursor-ahead', { base: ahead.base, delivered }));
    const { principal, receivedMs, trace } = author;
    const isRevoked = (): boolean => subscriber.isRevoked === true;
    const sender = { principal, receivedMs, isForeign, beganUnwritten, isRevoked };
    trace?.stages.push({ name: 'receive', startMs: trace.startMs, endMs: traceNowMs() });
    this.queue.push({ site: subscriber.site, push, sender, trace }, settled);
  }

  /** Throws `frame-unexpected` for a confirmation of a delivery or an outcome that was never sent. */
  confirm(subscriber: Subscriber, cursor: number, lastAckedSequence: number): void {
    const subscription = this.sessions.subscriptionOf(subscriber);
    if (subscription === undefined) return;
    if (cursor > subscription.cursor || lastAckedSequence > subscription.lastAckedSequence) {
      throw new RockpoolError('frame-unexpected', {
        problem: 'the client confirms a delivery that was not sent',
      });
    }
    // Does nothing for a site that has written nothing or belongs to another principal.
    if (subscription.siteNumber === null) return;
    this.queue.confirm({ site: subscriber.site, cursor, lastAckedSequence });
  }
}
