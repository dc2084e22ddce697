import type { RockpoolError } from '@rockpool/shared';
import type { Subscriber, Subscription } from '../fanout/subscription.ts';

/**
 * The sessions of one database, grouped by what the server sends to them:
 *
 *   subscription   every delivery
 *   foreign        outcomes of its pushes only: the principal has not shown yet that the site is theirs
 *   fetching       nothing: the client downloads a snapshot and sends hello again
 */
export class Sessions {
  private readonly subscriptions = new Map<Subscriber, Subscription>();
  // More than one entry only if two principals use the id of a site that has not written yet. An array, because a Set
  // takes three times its memory.
  private readonly bySite = new Map<string, readonly Subscription[]>();
  private readonly foreign = new Set<Subscriber>();
  private readonly fetching = new Set<Subscriber>();

  get isEmpty(): boolean {
    return this.subscriptions.size === 0 && this.foreign.size === 0 && this.fetching.size === 0;
  }

  subscribe(subscription: Subscription): void {
    this.subscriptions.set(subscription.subscriber, subscription);
    const { site } = subscription.subscriber;
    this.bySite.set(site, this.ofSite(site).concat(subscription));
  }

  addForeign(subscriber: Subscriber): void {
    this.foreign.add(subscriber);
  }

  addFetching(subscriber: Subscriber): void {
    this.fetching.add(subscriber);
  }

  remove(subscriber: Subscriber): void {
    const subscription = this.subscriptions.get(subscriber);
    this.subscriptions.delete(subscriber);
    this.foreign.delete(subscriber);
    this.fetching.delete(subscriber);
    if (subscription === undefined) return;
    const others = this.ofSite(subscriber.site).filter((other) => other !== subscription);
    if (others.length > 0) this.bySite.set(subscriber.site, others);
    else this.bySite.delete(subscriber.site);
  }

  has(subscriber: Subscriber): boolean {
    return this.subscriptions.has(subscriber) || this.foreign.has(subscriber) || this.fetching.has(subscriber);
  }

  isForeign(subscriber: Subscriber): boolean {
    return this.foreign.has(subscriber);
  }

  /** Undefined for a session that gets no deliveries, and for one that has ended. */
  subscriptionOf(subscriber: Subscriber): Subscription | undefined {
    return this.subscriptions.get(subscriber);
  }

  /** The subscriptions of a site. The array does not change when one of them ends. */
  ofSite(site: string): readonly Subscription[] {
    return this.bySite.get(site) ?? [];
  }

  /** A copy, because a session may end while its database serves the others. */
  subscribed(): Subscription[] {
    return [...this.subscriptions.values()];
  }

  /** Ends every session with a failure. */
  failAll(error: RockpoolError): void {
    for (const subscriber of [...this.subscriptions.keys(), ...this.foreign, ...this.fetching]) subscriber.fail(error);
  }
}
