import { encodeMessage, RockpoolError, type Audit, type AuditAnswer } from '@rockpool/shared';
import type { TableAudits } from '../audit/table-audits.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { readableGroups, readsEverything } from '../store/read-filter.ts';
import type { Sessions } from './sessions.ts';

/**
 * Runs the audits that sessions request, one after another: each reads whole tables, and many at once would leave no
 * time for anything else. A session has one at a time.
 */
export class SessionAudits {
  private readonly audits: TableAudits;
  private readonly sessions: Sessions;
  private readonly onFailure: (subscriber: Subscriber, error: unknown) => void;
  // The sessions whose audit runs or waits.
  private readonly running = new Set<Subscriber>();
  // What each session was sent before the response to its last audit.
  private readonly sentBefore = new WeakMap<Subscriber, number>();
  private last: Promise<void> = Promise.resolve();

  constructor(audits: TableAudits, sessions: Sessions, onFailure: (subscriber: Subscriber, error: unknown) => void) {
    this.audits = audits;
    this.sessions = sessions;
    this.onFailure = onFailure;
  }

  /**
   * Sends the response later. Throws
   * - `frame-unexpected` while an audit of this session is running
   * - `slow-consumer` if a delivery was lost: messages arrive in order, so the client has received what was sent before
   *   the response to its last audit
   */
  audit(subscriber: Subscriber, audit: Audit, onDifference: (tableIds: readonly number[]) => void): void {
    if (this.running.has(subscriber))
      throw new RockpoolError('frame-unexpected', { problem: 'another audit of this session is still running' });
    const { cursor } = audit;
    const sent = this.sentBefore.get(subscriber) ?? 0;
    if (cursor < sent) throw new RockpoolError('slow-consumer', { cursor, sent });
    const subscription = this.sessions.subscriptionOf(subscriber);
    // Compares nothing for a filtered reader: fingerprints over rows or columns that only one side has would always
    // differ.
    if (subscription === undefined || !readsEverything(subscription.filter))
      return this.answer(subscriber, { type: 'audit-answer', cursor, compared: false, differing: [], groups: [] });
    this.running.add(subscriber);
    const isWanted = (): boolean => this.sessions.subscriptionOf(subscriber) !== undefined;
    this.last = this.last
      .then(() => this.audits.answer(audit, isWanted))
      .then(
        (answer) => {
          this.running.delete(subscriber);
          if (!isWanted()) return;
          if (answer.differing.length > 0) onDifference(answer.differing.map(({ tableId }) => tableId));
          const groups = readableGroups(answer.groups, subscription.filter);
          this.answer(subscriber, { ...answer, groups });
        },
        (thrown: unknown) => {
          this.running.delete(subscriber);
          this.onFailure(subscriber, thrown);
        },
      );
  }

  private answer(subscriber: Subscriber, answer: AuditAnswer): void {
    this.sentBefore.set(subscriber, this.sessions.subscriptionOf(subscriber)?.cursor ?? 0);
    subscriber.send(encodeMessage(answer));
  }
}
