import { encodeMessage, RockpoolError, type Hello, type Welcome } from '@rockpool/shared';
import type { PushQueue } from '../admission/push-queue.ts';
import type { Principal } from '../auth/principal.ts';
import type { Deliveries } from '../fanout/deliveries.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import type { OpenDatabase } from '../store/durability.ts';
import { identityOf } from '../store/identity.ts';
import { readsEverything, type ReadFilter } from '../store/read-filter.ts';
import { beginEpoch } from './begin-epoch.ts';
import { requireSameDatabase } from './require-same-database.ts';
import type { Sessions } from './sessions.ts';
import { startingPoint, type StartingPoint } from './starting-point.ts';

/** The rights with which a session joins. */
export interface Access {
  readonly principal: Pick<Principal, 'id' | 'formerly'>;
  readonly canWrite: boolean;
  readonly filter: ReadFilter;
  readonly nowMs: number;
}

export interface JoiningOptions {
  readonly database: OpenDatabase;
  readonly queue: PushQueue;
  readonly sessions: Sessions;
  readonly deliveries: Deliveries;
  /** Whether a client that needs the full state should download a snapshot instead. */
  readonly offersSnapshot: () => boolean;
}

/** Begins sessions: hello → welcome → first delivery. */
export class Joining {
  private readonly options: JoiningOptions;
  /** The watermark when the file was opened. */
  private readonly openedAt: number;

  constructor(options: JoiningOptions) {
    this.options = options;
    this.openedAt = options.database.file.log.watermark;
  }

  /**
   * Sends the welcome and the first delivery, which may be empty. A client that should download a snapshot gets the
   * welcome alone. Replaces an older session of the same site, whose connection has broken unnoticed. Resolves later
   * where commits are under way.
   *
   * Throws `database-mismatch`, and `frame-invalid` for a hello that does not fit the log.
   */
  join(subscriber: Subscriber, hello: Hello, access: Access): Promise<void> | void {
    const { database, queue, sessions } = this.options;
    // The welcome names the last decided changeset and its hash, by which a copied site finds out that it is a copy. A
    // decision that is missing from the welcome would pass for the copy's own.
    const settling = queue.settle(subscriber.site) ?? database.settling();
    if (settling !== null) return settling.then(() => this.join(subscriber, hello, access));
    // An ended session must not replace the one that its client has opened since.
    if (subscriber.hasEnded) return;
    requireSameDatabase(database.file, hello);
    const start = startingPoint(database.file, subscriber.site, hello, access.principal);
    // A read-only client gets a full resync itself, but cannot end the sessions of others by claiming to be ahead.
    if (start.logLostSomething && access.canWrite) {
      // A file is restored while it is closed, so the two logs differ no later than where this server opened it.
      const beginning = beginEpoch(database, { sessions, startedAt: Math.min(start.commonUpTo, this.openedAt) });
      if (beginning !== null) return beginning.then(() => this.join(subscriber, hello, access));
    }
    if (!start.isForeign) sessions.ofSite(subscriber.site)?.fail(new RockpoolError('session-replaced'));
    const takeSnapshot = this.shouldTakeSnapshot(start, hello, access);
    const welcome = this.welcome(hello, start, access, takeSnapshot);
    if (!start.isForeign && !takeSnapshot) return this.subscribe(subscriber, hello, access, start, welcome);
    if (start.isForeign) sessions.addForeign(subscriber);
    else sessions.addFetching(subscriber);
    subscriber.send(encodeMessage(welcome));
  }

  private shouldTakeSnapshot(start: StartingPoint, hello: Hello, { filter }: Access): boolean {
    return (
      start.needsWhole &&
      start.fileWatermark === 0 &&
      !start.isForeign &&
      hello.snapshot !== 'refused' &&
      readsEverything(filter) &&
      this.options.database.file.log.watermark > 0 &&
      this.options.offersSnapshot()
    );
  }

  private welcome(hello: Hello, start: StartingPoint, { nowMs, canWrite }: Access, takeSnapshot: boolean): Welcome {
    const { file } = this.options.database;
    return {
      type: 'welcome',
      // The client's own: an older client rejects a newer version.
      protocolVersion: hello.protocolVersion,
      databaseIdentity: identityOf(file.sql),
      logEpoch: file.logEpoch.id,
      watermark: file.log.watermark,
      lastAckedSequence: start.lastAckedSequence,
      decidedHash: start.decidedHash,
      fullResync: start.fullResync || hasSnapshot(start),
      serverNowMs: nowMs,
      canWrite,
      takeSnapshot,
    };
  }

  private subscribe(
    subscriber: Subscriber,
    hello: Hello,
    { filter }: Access,
    start: StartingPoint,
    welcome: Welcome,
  ): void {
    const { sessions, deliveries } = this.options;
    const subscription = {
      subscriber,
      filter,
      siteNumber: start.siteNumber,
      cursor: hasSnapshot(start) ? start.fileWatermark : start.fullResync ? 0 : hello.cursor,
      lastAckedSequence: start.outcomesUpTo,
      ownFrom: start.ownFrom,
    };
    sessions.subscribe(subscription);
    try {
      subscriber.send(encodeMessage(welcome));
      if (welcome.fullResync) deliveries.deliverWhole(subscription);
      else deliveries.deliver(subscription, deliveries.update(), true, true);
    } catch (thrown) {
      // The caller does not know the session as joined, so it will not call leave.
      sessions.remove(subscriber);
      throw thrown;
    }
  }
}

/** The client holds a snapshot of this log and needs only the rows above it. */
function hasSnapshot({ needsWhole, fileWatermark }: StartingPoint): boolean {
  return needsWhole && fileWatermark > 0;
}
