import type { DatabaseFile } from '../store/database-file.ts';
import type { Deliveries, LogUpdate, PreparedDelivery } from './deliveries.ts';
import type { Subscriber, Subscription } from './subscription.ts';

export interface FanOutOptions {
  readonly file: DatabaseFile;
  readonly deliveries: Deliveries;
  readonly subscribed: () => readonly Subscription[];
  /** A delivery to this session failed. The others still get theirs. */
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
   * Reads and encodes the deliveries of a commit while the disk is awaited. Of sessions at the same cursor the first one
   * does the work of all. A session whose delivery fails gets none here, and `publish` reports the failure.
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

  /** `authors`: the sites of the changesets that were decided, which also get their outcomes. */
  publish(authors: ReadonlySet<string>, prepared: PreparedUpdate | null = null): void {
    const { file, deliveries, subscribed, onFailure } = this.options;
    const { watermark } = file.log;
    this.publishedUpTo = watermark;
    const update = prepared?.watermark === watermark ? prepared.update : deliveries.update();
    for (const subscription of subscribed()) {
      try {
        const own = prepared?.bySubscription.get(subscription);
        if (own !== undefined && deliveries.sendPrepared(subscription, own)) continue;
        deliveries.deliver(subscription, update, authors.has(subscription.subscriber.site), false);
      } catch (error) {
        onFailure(subscription.subscriber, error);
      }
    }
  }

  /** Sites with changesets above the last watermark that was published. */
  unpublishedAuthors(): ReadonlySet<string> {
    return this.options.file.log.authorsAfter(this.publishedUpTo);
  }
}
