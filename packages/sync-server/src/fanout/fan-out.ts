import { RockpoolError } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import type { Deliveries, LogUpdate, PreparedDelivery } from './deliveries.ts';
import type { Subscriber, Subscription } from './subscription.ts';

export interface FanOutOptions {
  readonly file: DatabaseFile;
  readonly deliveries: Deliveries;
  readonly subscribed: () => readonly Subscription[];
  /** A delivery to this session failed. The others still receive theirs. */
  readonly onFailure: (subscriber: Subscriber, error: unknown) => void;
}

/** The deliveries of a commit that is not durable yet. */
export interface PreparedUpdate {
  readonly watermark: number;
  readonly update: LogUpdate;
  readonly bySubscription: ReadonlyMap<Subscription, PreparedDelivery>;
}

/** Delivers each commit of one database to every subscribed session. */
export class FanOut {
  private readonly options: FanOutOptions;
  /** The watermark up to which sessions have been served. */
  private publishedUpTo: number;

  constructor(options: FanOutOptions) {
    this.options = options;
    this.publishedUpTo = options.file.log.watermark;
  }

  /**
   * Reads and encodes the deliveries of a commit while the disk writes. The first of several sessions at one cursor
   * does the work for all. A session whose delivery fails is omitted; `publish` reports the failure.
   */
  prepare(authors: ReadonlySet<string>): PreparedUpdate {
    const { file, deliveries, subscribed } = this.options;
    const update = deliveries.update();
    const bySubscription = new Map<Subscription, PreparedDelivery>();
    for (const subscription of subscribed()) {
      try {
        const prepared = deliveries.prepare(subscription, update, authors.has(subscription.subscriber.site));
        if (prepared !== null) bySubscription.set(subscription, prepared);
      } catch {
        continue;
      }
    }
    return { watermark: file.log.watermark, update, bySubscription };
  }

  /**
   * `authors`: the sites of the decided changesets, which also get their outcomes. Returns the number of subscribed
   * sessions.
   */
  publish(authors: ReadonlySet<string>, prepared: PreparedUpdate | null = null): number {
    const { file, deliveries, subscribed, onFailure } = this.options;
    const { watermark } = file.log;
    this.publishedUpTo = watermark;
    const update = prepared?.watermark === watermark ? prepared.update : deliveries.update();
    this.endOlderEpochs();
    this.endBehindHorizon();
    const subscriptions = subscribed();
    for (const subscription of subscriptions) {
      try {
        const own = prepared?.bySubscription.get(subscription);
        if (own !== undefined && deliveries.sendPrepared(subscription, own)) continue;
        deliveries.deliver(subscription, update, authors.has(subscription.subscriber.site), false);
      } catch (error) {
        onFailure(subscription.subscriber, error);
      }
    }
    return subscriptions.length;
  }

  /**
   * Ends sessions that joined in a different log epoch: their watermarks now stand for different changesets, so they
   * reconnect and resync. Another instance may have begun the log epoch.
   */
  endOlderEpochs(): void {
    const { id } = this.options.file.logEpoch;
    for (const { subscriber, logEpoch } of this.options.subscribed())
      if (logEpoch !== id && Buffer.compare(logEpoch, id) !== 0) subscriber.fail(new RockpoolError('epoch-changed'));
  }

  /**
   * Ends sessions below the tombstone horizon: they reconnect and get a full resync. If this instance applies several
   * commits of others at once, a later one may have pruned the tombstones of deletes in an earlier one.
   */
  private endBehindHorizon(): void {
    const { tombstoneHorizon } = this.options.file.tombstones;
    for (const { subscriber, cursor } of this.options.subscribed())
      if (cursor < tombstoneHorizon) subscriber.fail(new RockpoolError('slow-consumer', { cursor, tombstoneHorizon }));
  }

  /** Sites with changesets above the last published watermark. */
  unpublishedAuthors(): ReadonlySet<string> {
    return this.options.file.log.authorsAfter(this.publishedUpTo);
  }
}
