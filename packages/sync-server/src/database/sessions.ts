import type { RockpoolError } from '@rockpool/shared';
import type { Subscriber, Subscription } from '../fanout/subscription.ts';

/**
 * The sessions of one database, by what the server sends them:
 *
 *   subscription   every delivery
 *   foreign        outcomes of its pushes only: the principal has not shown yet that the site is theirs
 *   fetching       nothing: the client downloads a snapshot and sends hello again
 */
export class Sessions {
  private readonly subscriptions = new Map<Subscriber, Subscription>();
  private readonly subscriberBySite = new Map<string, Subscriber>();
  private readonly foreign = new Set<Subscriber>();
  private readonly fetching = new Set<Subscriber>();

  get isEmpty(): boolean {
    return this.subscriptions.size === 0 && this.foreign.size === 0 && this.fetching.size === 0;
  }

  subscribe(subscription: Subscription): void {
    const { subscriber } = subscription;
    this.subscriptions.set(subscriber, subscription);
    this.subscriberBySite.set(subscriber.site, subscriber);
  }

  addForeign(subscriber: Subscriber): void {
    this.foreign.add(subscriber);
  }

  addFetching(subscriber: Subscriber): void {
    this.fetching.add(subscriber);
  }

  remove(subscriber: Subscriber): void {
    this.subscriptions.delete(subscriber);
    this.foreign.delete(subscriber);
    this.fetching.delete(subscriber);
    if (this.subscriberBySite.get(subscriber.site) === subscriber) this.subscriberBySite.delete(subscriber.site);
  }

  isForeign(subscriber: Subscriber): boolean {
    return this.foreign.has(subscriber);
  }

  /** Undefined for a session that gets no deliveries, and for one that has ended. */
  subscriptionOf(subscriber: Subscriber): Subscription | undefined {
    return this.subscriptions.get(subscriber);
  }

  /** The subscribed session of a site. */
  ofSite(site: string): Subscriber | undefined {
    return this.subscriberBySite.get(site);
  }

  /** A copy: a session may end while its database serves the others. */
  subscribed(): Subscription[] {
    return [...this.subscriptions.values()];
  }

  /** Ends every session with a failure. */
  failAll(error: RockpoolError): void {
    for (const subscriber of [...this.subscriptions.keys(), ...this.foreign, ...this.fetching]) subscriber.fail(error);
  }
}
