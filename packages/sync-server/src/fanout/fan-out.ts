import type { DatabaseFile } from '../store/database-file.ts';
import type { Deliveries } from './deliveries.ts';
import type { Subscriber, Subscription } from './subscription.ts';

export interface FanOutOptions {
  readonly file: DatabaseFile;
  readonly deliveries: Deliveries;
  readonly subscribed: () => readonly Subscription[];
  /** A delivery to this session failed. The others still get theirs. */
  readonly onFailure: (subscriber: Subscriber, error: unknown) => void;
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

  /** `authors`: the sites of the changesets that were decided, which also get their outcomes. */
  publish(authors: ReadonlySet<string>): void {
    const { file, deliveries, subscribed, onFailure } = this.options;
    this.publishedUpTo = file.log.watermark;
    const update = deliveries.update();
    for (const subscription of subscribed()) {
      try {
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
