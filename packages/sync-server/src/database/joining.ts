import { randomBytes } from 'node:crypto';
import { encodeMessage, ID_BYTES, RockpoolError, type Hello, type Welcome } from '@rockpool/shared';
import type { PushQueue } from '../admission/push-queue.ts';
import type { Principal } from '../auth/principal.ts';
import type { Deliveries } from '../fanout/deliveries.ts';
import type { Subscriber, Subscription } from '../fanout/subscription.ts';
import type { OpenDatabase } from '../store/durability.ts';
import { identityOf } from '../store/identity.ts';
import { readsEverything, type ReadableRows, type ReadFilter } from '../store/read-filter.ts';
import type { KnownSchemas } from '../store/known-schemas.ts';
import { beginEpoch } from './begin-epoch.ts';
import { requireSameDatabase } from './require-same-database.ts';
import type { Sessions } from './sessions.ts';
import { startingPoint, type StartingPoint } from './starting-point.ts';

/** The rights with which a session joins. */
export interface Access {
  readonly principal: Pick<Principal, 'id' | 'formerly'>;
  readonly canWrite: boolean;
  readonly rows: ReadableRows;
  readonly nowMs: number;
}

export interface JoiningOptions {
  readonly database: OpenDatabase;
  readonly queue: PushQueue;
  readonly sessions: Sessions;
  readonly deliveries: Deliveries;
  /** Throws if the database has been closed, which may happen while a session waits to join. */
  readonly requireOpen: () => void;
  /** The schemas of clients that are served. */
  readonly schemas: KnownSchemas;
  /** Ends the sessions whose log epoch differs from that of the file. */
  readonly endOlderEpochs: () => void;
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
   * welcome alone. Replaces an older session of the same site, whose connection has broken unnoticed. If commits are
   * under way, waits for them.
   *
   * Throws `schema-mismatch`, `database-mismatch`, `frame-invalid` for a hello that does not fit the log, and the error
   * with which the database was closed.
   */
  join(subscriber: Subscriber, hello: Hello, access: Access): Promise<void> | void {
    const { database, queue, sessions, requireOpen } = this.options;
    requireOpen();
    // The welcome names the last decided changeset and its hash, by which a copied site recognizes that it is a copy.
    // If the welcome omitted a decision, the copy would take that changeset for its own.
    const settling = queue.settle(subscriber.site) ?? database.settling();
    if (settling !== null) return settling.then(() => this.join(subscriber, hello, access));
    // A session that has ended must not replace the one that its client has opened since.
    if (subscriber.hasEnded) return;
    const filter = { rows: access.rows, schema: this.options.schemas.viewOf(hello.schemaHash, database.file.schema) };
    requireSameDatabase(database.file, hello);
    const start = startingPoint(database.file, subscriber.site, hello, access.principal);
    if (start.logLostSomething) {
      // A file is restored only while it is closed, so the two logs have nothing in common above the watermark at which
      // this server opened it.
      const beginning = beginEpoch(database, {
        startedAt: Math.min(start.commonUpTo, this.openedAt),
        endSessions: () => this.options.endOlderEpochs(),
      });
      if (beginning !== null) return beginning.then(() => this.join(subscriber, hello, access));
    }
    if (!start.isForeign) this.replaceOlder(subscriber.site, start, access);
    const takeSnapshot = this.shouldTakeSnapshot(start, hello, filter);
    const welcome = this.welcome(hello, start, access, takeSnapshot);
    if (!start.isForeign && !takeSnapshot) {
      const subscription = this.subscription(subscriber, hello, { filter, principal: access.principal.id }, start);
      return this.subscribe(subscription, welcome);
    }
    if (start.isForeign) sessions.addForeign(subscriber);
    else sessions.addFetching(subscriber);
    subscriber.send(encodeMessage(welcome));
  }

  /**
   * Ends older sessions of the site, whose connections have broken unnoticed. A site that has not written yet belongs
   * to nobody: another principal that knows its id does not end its session.
   */
  private replaceOlder(site: string, { ownsSite }: StartingPoint, { principal: { id, formerly = [] } }: Access): void {
    for (const { subscriber, principal } of this.options.sessions.ofSite(site))
      if (ownsSite || principal === id || formerly.includes(principal))
        subscriber.fail(new RockpoolError('session-replaced'));
  }

  private shouldTakeSnapshot(start: StartingPoint, hello: Hello, filter: ReadFilter): boolean {
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
      // The client's own version, because an older client rejects a newer one.
      protocolVersion: hello.protocolVersion,
      databaseIdentity: identityOf(file.sql),
      // A random log epoch makes the client treat all its watermarks as those of an older log epoch.
      logEpoch: start.isUnproven ? new Uint8Array(randomBytes(ID_BYTES)) : file.logEpoch.id,
      watermark: file.log.watermark,
      lastAckedSequence: start.lastAckedSequence,
      decidedHash: start.decidedHash,
      fullResync: start.fullResync || hasSnapshot(start),
      serverNowMs: nowMs,
      canWrite,
      takeSnapshot,
    };
  }

  private subscription(
    subscriber: Subscriber,
    hello: Hello,
    rights: Pick<Subscription, 'filter' | 'principal'>,
    start: StartingPoint,
  ): Subscription {
    return {
      subscriber,
      ...rights,
      logEpoch: this.options.database.file.logEpoch.id,
      siteNumber: start.siteNumber,
      cursor: hasSnapshot(start) ? start.fileWatermark : start.fullResync ? 0 : hello.cursor,
      lastAckedSequence: start.outcomesUpTo,
      ownFrom: start.ownFrom,
    };
  }

  private subscribe(subscription: Subscription, welcome: Welcome): void {
    const { sessions, deliveries } = this.options;
    const { subscriber } = subscription;
    sessions.subscribe(subscription);
    try {
      subscriber.send(encodeMessage(welcome));
      if (welcome.fullResync) deliveries.deliverWhole(subscription);
      else deliveries.deliver(subscription, deliveries.update(), true, true);
    } catch (thrown) {
      // The caller does not treat the session as joined, so it will not call leave.
      sessions.remove(subscriber);
      throw thrown;
    }
  }
}

/** The client holds a snapshot of this log and needs only the rows above it. */
function hasSnapshot({ needsWhole, fileWatermark }: StartingPoint): boolean {
  return needsWhole && fileWatermark > 0;
}
