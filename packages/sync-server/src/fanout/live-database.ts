import {
  DELIVERY_PART_BYTES,
  encodeMessage,
  PROTOCOL_VERSION,
  RockpoolError,
  toRockpoolError,
  type Audit,
  type Hello,
  type Presence,
  type Push,
  type Welcome,
} from '@rockpool/shared';
import { TableAudits } from '../audit/table-audits.ts';
import type { Principal } from '../auth/principal.ts';
import { ownPush, ownSite } from '../backend/own-site.ts';
import type { Validate } from '../admission/validate.ts';
import type { DocumentPool } from '../documents/document-pool.ts';
import { outcomesAfter } from '../log/outcomes.ts';
import { RETENTION, type Retention } from '../log/retention.ts';
import type { SiteState } from '../log/sites.ts';
import { foreignKeyChecks } from '../merge/foreign-keys.ts';
import type { PresenceRelay } from '../presence/presence-relay.ts';
import { PresenceRoom, type PresenceSender } from '../presence/presence-room.ts';
import type { Sender } from '../admission/admit-changeset.ts';
import type { WaitingPush } from '../admission/admit-pushes.ts';
import { baseInEpoch } from '../admission/older-epoch.ts';
import { PushQueue } from '../admission/push-queue.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { identityOf } from '../store/identity.ts';
import { durableInFile, type OpenDatabase } from '../store/durability.ts';
import { sqliteDamage } from '../store/file-damage.ts';
import type { SchemaView } from '../store/schema-view.ts';
import { Deliveries } from './deliveries.ts';
import { requireSameDatabase } from './require-same-database.ts';
import { startingPoint } from './starting-point.ts';
import type { Subscriber, Subscription } from './subscription.ts';

/** As whom a session joins. */
export interface Access {
  readonly principal: Pick<Principal, 'id' | 'formerly'>;
  readonly canWrite: boolean;
  /** Null: of the server's own schema. Else what the client knows of it. */
  readonly view: SchemaView | null;
  readonly nowMs: number;
}

export interface LiveDatabaseOptions {
  /** Unexpected failures: a file that cannot be written, a bug. */
  readonly onFailure: (error: unknown) => void;
  readonly retention?: Retention;
  readonly validate?: Validate | null;
  /** Presence at the other instances of the server. Default: there are none. */
  readonly presenceRelay?: PresenceRelay | null;
  /** See shared/protocol/limits.ts. */
  readonly deliveryPartBytes?: number | undefined;
  /** Threads for large documents. Default: none, all is done in this one. */
  readonly documentPool?: DocumentPool | null;
  /** Whether whoever needs everything should rather take a file. Default: never. */
  readonly offersSnapshot?: () => boolean;
}

/**
 * One open database with its sessions: pushes go in, and after each commit the news go out to everybody.
 *
 *   push ─► queue ─► one transaction ─► commit (durable) ─► deliveries to all sessions
 *
 * Every session is at the log's end after each commit, because its delivery is queued at once; what it sends back never
 * waits.
 */
export class LiveDatabase {
  readonly file: DatabaseFile;
  private readonly database: OpenDatabase;
  private readonly deliveries: Deliveries;
  /** The log's end then. */
  private readonly openedAt: number;
  // Sessions that wait to be let in.
  private joining = 0;
  /** Up to which watermark the sessions have been served. */
  private publishedUpTo: number;
  private readonly queue: PushQueue;
  private readonly audits: TableAudits;
  private readonly presence: PresenceRoom;
  private readonly auditing = new Set<Subscriber>();
  // Services that follow the changes.
  private readonly waiting = new Set<(goesOn: boolean) => void>();
  private readonly subscriptions = new Map<Subscriber, Subscription>();
  private readonly subscriberBySite = new Map<string, Subscriber>();
  // Sessions of sites that are not theirs yet: they may ask by a push, and get nothing of the stream.
  private readonly foreigners = new Set<Subscriber>();
  // Sessions that were told to take a file: they will say hello again.
  private readonly fetching = new Set<Subscriber>();
  private readonly offersSnapshot: () => boolean;
  private readonly onFailure: (error: unknown) => void;

  /** A file by itself is what lasts. */
  constructor(
    database: DatabaseFile | OpenDatabase,
    {
      onFailure,
      retention = RETENTION,
      validate = null,
      presenceRelay = null,
      deliveryPartBytes = DELIVERY_PART_BYTES,
      documentPool = null,
      offersSnapshot = () => false,
    }: LiveDatabaseOptions,
  ) {
    this.database = 'file' in database ? database : durableInFile(database);
    const { file } = this.database;
    this.file = file;
    this.offersSnapshot = offersSnapshot;
    this.onFailure = onFailure;
    if (documentPool !== null) file.documents.use(documentPool);
    this.openedAt = file.log.watermark;
    this.publishedUpTo = file.log.watermark;
    this.presence = new PresenceRoom(presenceRelay);
    this.deliveries = new Deliveries(file, deliveryPartBytes);
    this.audits = new TableAudits(file);
    const rules = { checks: foreignKeyChecks(file.tableByName), retention, validate };
    this.queue = new PushQueue({
      database: this.database,
      rules,
      onCommitted: (authors) => this.publish(authors),
      onFailure,
    });
  }

  /** Nobody is connected and nothing waits: the file may be closed. */
  get isIdle(): boolean {
    return (
      this.joining === 0 &&
      this.subscriptions.size === 0 &&
      this.foreigners.size === 0 &&
      this.fetching.size === 0 &&
      this.waiting.size === 0 &&
      this.queue.isEmpty &&
      this.database.settling() === null
    );
  }

  /**
   * Begins a session: welcome, then the first delivery, even when it is empty. Whoever should take a file first is told
   * so, and nothing else. A session of the same site that is still there ends: it is the one whose end has not been
   * noticed yet. Throws `database-mismatch`, and the failure of a hello that does not fit the log. Where commits take
   * time, it may have to wait for some.
   */
  join(subscriber: Subscriber, hello: Hello, access: Access): Promise<void> | void {
    // The welcome says by hash what is decided, so that a copy of the site's file finds out. What was decided after it,
    // unsaid, a copy would take for its own.
    const settling = this.queue.settle(subscriber.site) ?? this.database.settling();
    if (settling !== null) return settling.then(() => this.join(subscriber, hello, access));
    // Else it would end the session that its client has opened since.
    if (subscriber.hasEnded) return;
    requireSameDatabase(this.file, hello);
    const {
      siteNumber,
      lastAckedSequence,
      decidedHash,
      toldUpTo,
      ownFrom,
      fullResync,
      needsWhole,
      fileWatermark,
      logLostSomething,
      commonUpTo,
      isForeign,
    } = startingPoint(this.file, subscriber.site, hello, access.principal);
    // Whoever may only read is believed as far as it concerns themselves: they reload, the others go on.
    if (logLostSomething && access.canWrite) {
      const beginning = this.beginEpoch(commonUpTo);
      if (beginning !== null) return beginning.then(() => this.join(subscriber, hello, access));
    }
    if (!isForeign) this.subscriberBySite.get(subscriber.site)?.fail(new RockpoolError('session-replaced'));
    const hasFile = needsWhole && fileWatermark > 0;
    const takeSnapshot =
      needsWhole &&
      !hasFile &&
      !isForeign &&
      hello.snapshot !== 'refused' &&
      access.view === null &&
      this.file.log.watermark > 0 &&
      this.offersSnapshot();
    const welcome: Welcome = {
      type: 'welcome',
      protocolVersion: PROTOCOL_VERSION,
      databaseIdentity: identityOf(this.file.sql),
      logEpoch: this.file.logEpoch.id,
      watermark: this.file.log.watermark,
      lastAckedSequence,
      decidedHash,
      fullResync: fullResync || hasFile,
      serverNowMs: access.nowMs,
      canWrite: access.canWrite,
      takeSnapshot,
    };
    if (isForeign) {
      this.foreigners.add(subscriber);
      return subscriber.send(encodeMessage(welcome));
    }
    if (takeSnapshot) {
      this.fetching.add(subscriber);
      return subscriber.send(encodeMessage(welcome));
    }
    const subscription: Subscription = {
      subscriber,
      view: access.view,
      siteNumber,
      cursor: hasFile ? fileWatermark : fullResync ? 0 : hello.cursor,
      lastAckedSequence: toldUpTo,
      ownFrom,
    };
    this.subscriptions.set(subscriber, subscription);
    this.subscriberBySite.set(subscriber.site, subscriber);
    try {
      subscriber.send(encodeMessage(welcome));
      if (welcome.fullResync) this.deliveries.deliverWhole(subscription);
      else this.deliveries.deliver(subscription, this.deliveries.update(), true, true);
    } catch (thrown) {
      // Nobody else knows yet that it is here.
      this.leave(subscriber);
      throw thrown;
    }
  }

  leave(subscriber: Subscriber): void {
    this.subscriptions.delete(subscriber);
    this.foreigners.delete(subscriber);
    this.fetching.delete(subscriber);
    this.presence.leave(subscriber);
    if (this.subscriberBySite.get(subscriber.site) === subscriber) this.subscriberBySite.delete(subscriber.site);
  }

  /** `settled` is called once the push is decided and durable, or refused as a whole. Outcomes go by the stream. */
  push(
    subscriber: Subscriber,
    push: Push,
    author: Pick<Sender, 'principal' | 'receivedMs'>,
    settled: (refusal: RockpoolError | null) => void,
  ): void {
    const isForeign = this.foreigners.has(subscriber);
    const known = isForeign ? Infinity : (this.subscriptions.get(subscriber)?.cursor ?? 0);
    const ahead = push.changesets.find(
      (changeset) => baseInEpoch(push, changeset, this.file.logEpoch.startedAt) > known,
    );
    if (ahead !== undefined) return settled(new RockpoolError('cursor-ahead', { base: ahead.base, delivered: known }));
    this.queue.push({ site: subscriber.site, push, sender: { ...author, isForeign } }, settled);
  }

  /** Throws `frame-unexpected` for a confirmation of what was never sent. */
  confirm(subscriber: Subscriber, cursor: number, lastAckedSequence: number): void {
    const subscription = this.subscriptions.get(subscriber);
    if (subscription === undefined) return;
    if (cursor > subscription.cursor || lastAckedSequence > subscription.lastAckedSequence) {
      throw new RockpoolError('frame-unexpected', { problem: 'confirms what was not sent' });
    }
    this.queue.confirm({ site: subscriber.site, cursor, lastAckedSequence });
  }

  /** Answers by itself, after a while. Throws `frame-unexpected` while the last one of this session is not answered. */
  audit(subscriber: Subscriber, audit: Audit, onDifference: (tableIds: readonly number[]) => void): void {
    if (this.auditing.has(subscriber))
      throw new RockpoolError('frame-unexpected', { problem: 'an audit is not answered yet' });
    // Sums over columns of which one side knows some only tell nothing.
    if (this.subscriptions.get(subscriber)?.view !== null)
      return subscriber.send(
        encodeMessage({ type: 'audit-answer', cursor: audit.cursor, compared: false, differing: [], groups: [] }),
      );
    this.auditing.add(subscriber);
    this.audits.answer(audit).then(
      (answer) => {
        this.auditing.delete(subscriber);
        if (!this.subscriptions.has(subscriber)) return;
        if (answer.differing.length > 0) onDifference(answer.differing.map(({ tableId }) => tableId));
        subscriber.send(encodeMessage(answer));
      },
      (thrown: unknown) => {
        this.auditing.delete(subscriber);
        this.failed(subscriber, thrown);
      },
    );
  }

  /**
   * Brings the file up to what other instances have committed, and lets it last. To be waited for before somebody joins
   * who may have seen that, and before anything is told that was read.
   */
  catchUp(): Promise<void> {
    return this.read(() => undefined);
  }

  /**
   * Runs `body` when the file is so, in the same step: what it reads may be told. By the next step another commit may
   * have begun.
   */
  async read<Result>(body: () => Result): Promise<Result> {
    this.joining++;
    try {
      await this.database.catchUp();
      // More may have been committed by the time that one lasts.
      for (let settling = this.database.settling(); settling !== null; settling = this.database.settling())
        await settling;
      return body();
    } finally {
      this.joining--;
    }
  }

  /** Decides what has been pushed until now; where commits take time, it begins to. */
  settle(): void {
    void this.queue.drainAll();
  }

  /**
   * Admits a changeset that the server's own program has made of what is there, durably. Gives its watermark; throws
   * why it was rejected, or could not be stored.
   */
  async write(body: Uint8Array, principal: string, nowMs: number): Promise<number> {
    const base = this.file.log.watermark;
    let site = '';
    let sequence = 0;
    const take = (): WaitingPush => {
      site = ownSite(this.file);
      const push = ownPush(this.file, site, body, base, nowMs);
      sequence = push.changesets.at(-1)?.sequence ?? 0;
      return { site, push, sender: { principal, receivedMs: nowMs, isForeign: false } };
    };
    const refusal = await new Promise<RockpoolError | null>((settled) => {
      this.queue.pushLate(site, body.length, take, settled);
      void this.queue.drainAll();
    });
    if (refusal !== null) throw refusal;
    const { number } = this.file.sites.get(site) as SiteState;
    const outcome = outcomesAfter(this.file.sql, number, sequence - 1).find(
      (stored) => stored.outcome.sequence === sequence,
    )?.outcome;
    this.queue.confirm({ site, cursor: this.file.log.watermark, lastAckedSequence: sequence });
    if (outcome?.kind === 'admitted') return outcome.watermark;
    throw new RockpoolError(outcome?.code ?? 'internal', outcome?.fields);
  }

  /** Other instances have committed, and the file has it. */
  followed(): void {
    this.publish(this.file.log.authorsAfter(this.publishedUpTo));
  }

  /** The file is not what is stored any more: whoever uses it connects again. */
  lose(error: RockpoolError): void {
    for (const subscriber of [...this.subscriptions.keys(), ...this.foreigners, ...this.fetching])
      subscriber.fail(error);
    for (const done of [...this.waiting]) done(true);
    this.presence.close();
    this.audits.close();
    this.database.close();
  }

  /**
   * Resolves with true after the next commit, and when the database is lost: another one is to be opened then. With
   * false when the signal aborts or the database closes.
   */
  nextCommit(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const done = (goesOn: boolean): void => {
        this.waiting.delete(done);
        signal.removeEventListener('abort', stop);
        resolve(goesOn);
      };
      const stop = (): void => done(false);
      this.waiting.add(done);
      signal.addEventListener('abort', stop);
    });
  }

  /** What a session's tabs show of themselves; to be told who else is here comes with it. Throws `presence-invalid`. */
  show(subscriber: Subscriber, { states }: Presence, speaker: PresenceSender): void {
    if (this.subscriptions.has(subscriber)) this.presence.show(subscriber, speaker, states);
  }

  /** Settles what waits, and closes the file. */
  close(): Promise<void> | void {
    this.presence.close();
    this.audits.close();
    const draining = this.queue.drainAll();
    if (draining !== null) return draining.then(() => this.close());
    for (const done of [...this.waiting]) done(false);
    this.database.close();
  }

  /**
   * What the sessions of the old epoch know by watermarks is not what this log holds: they connect again and reload.
   */
  private beginEpoch(commonUpTo: number): Promise<void> | null {
    // A file is put back while nobody has it open: what came since this server opened it is not what clients mean by
    // these watermarks.
    const ofOldEpoch = [...this.subscriptions.keys()];
    const leave = (): void => {
      for (const subscriber of ofOldEpoch)
        if (this.subscriptions.has(subscriber)) subscriber.fail(new RockpoolError('epoch-changed'));
    };
    const { logEpoch } = this.file;
    const { id } = logEpoch;
    const startedAt = Math.min(commonUpTo, this.openedAt);
    const done = this.database.commit(() => {
      // Where commits take turns, another one may have begun since this was asked for, here or at another instance:
      // after a restore all clients are ahead.
      const hasBegun = Buffer.compare(logEpoch.id, id) !== 0 && logEpoch.startedAt <= startedAt;
      if (!hasBegun) logEpoch.renew(startedAt);
    });
    if (done instanceof Promise) return done.then(leave);
    leave();
    return null;
  }

  /** Ends one session; a damaged file ends them all. */
  private failed(subscriber: Subscriber, error: unknown): void {
    const damage = sqliteDamage(error);
    if (damage !== null) this.onFailure(damage);
    subscriber.fail(damage ?? toRockpoolError(error));
  }

  private publish(authors: ReadonlySet<string>): void {
    this.publishedUpTo = this.file.log.watermark;
    for (const done of [...this.waiting]) done(true);
    const update = this.deliveries.update();
    for (const subscription of [...this.subscriptions.values()]) {
      try {
        this.deliveries.deliver(subscription, update, authors.has(subscription.subscriber.site), false);
      } catch (error) {
        this.failed(subscription.subscriber, error);
      }
    }
  }
}
