import {
  encodeDelivery,
  encodeDeliveryPart,
  MAX_MESSAGE_BYTES,
  RockpoolError,
  type ChangeGroup,
} from '@rockpool/shared';
import { outcomesAfter } from '../log/outcomes.ts';
import { ChangedRows } from '../pull/changed-rows.ts';
import { deliveredGroups } from '../pull/delivery.ts';
import { encodeParts } from '../pull/encode-parts.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readableGroups, readsEverything, type ReadFilter } from '../store/read-filter.ts';
import type { Subscription } from './subscription.ts';

/** The changes of a commit, read and encoded once for all sessions with the same cursor. */
export interface LogUpdate {
  readonly changed: ChangedRows;
  /** For sessions that are not authors, by cursor. */
  readonly shared: Map<string, SharedDelivery>;
}

/** Encoded rows, as messages of their own and as the end of a delivery. */
interface EncodedRows {
  readonly parts: readonly Uint8Array[];
  /** The groups of the delivery itself. */
  readonly last: Uint8Array;
}

interface KeptState {
  readonly logHash: Uint8Array;
  readonly rows: EncodedRows;
  readonly timer: NodeJS.Timeout;
}

interface SharedDelivery {
  readonly rows: EncodedRows;
  /** The last delivery with these parts. It also fits the next session, unless the acknowledged sequences differ. */
  prepared: PreparedDelivery;
}

/** The next delivery of a session, valid only while the session has not moved. */
export interface PreparedDelivery {
  readonly from: number;
  readonly to: number;
  readonly acknowledgedBefore: number;
  readonly lastAckedSequence: number;
  readonly messages: readonly Uint8Array[];
}

/**
 * How long a full state is kept after its last use. When many clients need it at once, for example because they cannot
 * download snapshots, it is read and encoded once, and is in memory once.
 */
const FULL_STATE_KEPT_MS = 3_000;

/** Sends each session the rows above its cursor and the outcomes of its own pushes. */
export class Deliveries {
  private readonly file: DatabaseFile;
  private readonly partBytes: number;
  // The log hash identifies the state: a commit that fails may leave its watermark to another one.
  private kept: KeptState | null = null;

  constructor(file: DatabaseFile, partBytes: number) {
    this.file = file;
    this.partBytes = partBytes;
  }

  /** Created once per commit and shared by all sessions. */
  update(): LogUpdate {
    return { changed: new ChangedRows(this.file), shared: new Map() };
  }

  /**
   * `isAuthor`: the session may have outcomes or corrections to receive. `isFirst`: sends a delivery even if it is
   * empty.
   */
  deliver(subscription: Subscription, update: LogUpdate, isAuthor: boolean, isFirst: boolean): void {
    const prepared = this.prepare(subscription, update, isAuthor, isFirst);
    if (prepared !== null) this.send(subscription, prepared);
  }

  /** The delivery that `deliver` would send now; null: none. */
  prepare(
    subscription: Subscription,
    update: LogUpdate,
    isAuthor: boolean,
    isFirst: boolean = false,
  ): PreparedDelivery | null {
    const { cursor: from } = subscription;
    const to = this.file.log.watermark;
    if (!isAuthor) return to > from ? this.prepareShared(subscription, update) : null;
    subscription.siteNumber ??= this.ownSiteNumber(subscription);
    const decided =
      subscription.siteNumber === null
        ? []
        : outcomesAfter(this.file.sql, subscription.siteNumber, subscription.lastAckedSequence);
    if (!isFirst && to === from && decided.length === 0) return null; // The push was decided and acknowledged earlier.
    const { siteNumber, ownFrom, filter } = subscription;
    const outcomes = decided.map(({ outcome }) => outcome);
    if (from === 0 && siteNumber === null) return this.encodeMessages(subscription, outcomes, this.fullState(filter));
    const corrections = decided.flatMap(({ corrected }) => corrected);
    const groups = deliveredGroups(this.file, update.changed, { siteNumber, from, ownFrom }, corrections);
    return this.encodeMessages(subscription, outcomes, this.encode(groups, filter));
  }

  /** False if the session has moved on, so that nothing was sent. */
  sendPrepared(subscription: Subscription, prepared: PreparedDelivery): boolean {
    if (
      prepared.to !== this.file.log.watermark ||
      prepared.from !== subscription.cursor ||
      prepared.acknowledgedBefore !== subscription.lastAckedSequence
    )
      return false;
    this.send(subscription, prepared);
    return true;
  }

  /**
   * Sends the full state, or the rows above the snapshot that the client holds, as to a new site, with the outcomes
   * that the site lacks.
   */
  deliverWhole(subscription: Subscription): void {
    const { siteNumber, lastAckedSequence, cursor: from, filter } = subscription;
    const decided = siteNumber === null ? [] : outcomesAfter(this.file.sql, siteNumber, lastAckedSequence);
    const outcomes = decided.map(({ outcome }) => outcome);
    const rows = from === 0 ? this.fullState(filter) : this.encode(this.groupsForNewSite(from), filter);
    this.send(subscription, this.encodeMessages(subscription, outcomes, rows, true));
  }

  private groupsForNewSite(from: number): readonly ChangeGroup[] {
    return deliveredGroups(this.file, new ChangedRows(this.file), { siteNumber: null, from, ownFrom: 0 }, []);
  }

  private fullState(filter: ReadFilter): EncodedRows {
    if (!readsEverything(filter)) return this.encode(this.groupsForNewSite(0), filter);
    const { log } = this.file;
    const logHash = log.hashAt(log.watermark);
    const { kept } = this;
    const isSame = kept !== null && Buffer.compare(kept.logHash, logHash) === 0;
    const rows = isSame ? kept.rows : this.encode(this.groupsForNewSite(0), filter);
    clearTimeout(kept?.timer);
    const timer = setTimeout(() => (this.kept = null), FULL_STATE_KEPT_MS).unref();
    this.kept = { logHash, rows, timer };
    return rows;
  }

  /** Null if the site has not written yet, or if a different principal has written under its site id. */
  private ownSiteNumber({ subscriber, principal }: Subscription): number | null {
    const site = this.file.sites.get(subscriber.site);
    return site?.principal === principal ? site.number : null;
  }

  /**
   * Sessions at one position get the same messages, as the same objects: they are encoded and framed once, and cross
   * to another thread once.
   */
  private prepareShared(subscription: Subscription, { changed, shared }: LogUpdate): PreparedDelivery {
    const { cursor: from, siteNumber, ownFrom, filter, lastAckedSequence } = subscription;
    // For a site without writes in this commit, only whether it has ever written matters (row-delivery.ts).
    const name = `${from}:${siteNumber === null ? 'reads' : 'writes'}`;
    const isShared = readsEverything(filter);
    const known = isShared ? shared.get(name) : undefined;
    if (known?.prepared.acknowledgedBefore === lastAckedSequence) return known.prepared;
    const rows =
      known?.rows ?? this.encode(deliveredGroups(this.file, changed, { siteNumber, from, ownFrom }, []), filter);
    const prepared = this.encodeMessages(subscription, [], rows);
    if (known !== undefined) known.prepared = prepared;
    else if (isShared) shared.set(name, { rows, prepared });
    return prepared;
  }

  private encode(groups: readonly ChangeGroup[], filter: ReadFilter): EncodedRows {
    const encoded = encodeParts(readableGroups(groups, filter), this.partBytes);
    return { parts: encoded.slice(0, -1).map(encodeDeliveryPart), last: encoded.at(-1) as Uint8Array };
  }

  private encodeMessages(
    { cursor: from, lastAckedSequence: acknowledgedBefore }: Subscription,
    outcomes: Parameters<typeof encodeDelivery>[0]['outcomes'],
    { parts, last }: EncodedRows,
    whole: boolean = false,
  ): PreparedDelivery {
    const to = this.file.log.watermark;
    const lastAckedSequence = outcomes.at(-1)?.sequence ?? acknowledgedBefore;
    const head = {
      type: 'delivery',
      whole,
      from,
      to,
      logHash: this.file.log.hashAt(to),
      lastAckedSequence,
      outcomes,
    } as const;
    const messages = [...parts, encodeDelivery(head, last)];
    // Only a part with a single row can be that large.
    const sizeBytes = Math.max(...messages.map(({ length }) => length));
    if (sizeBytes > MAX_MESSAGE_BYTES)
      throw new RockpoolError('frame-too-large', { sizeBytes, limitBytes: MAX_MESSAGE_BYTES });
    return { from, to, acknowledgedBefore, lastAckedSequence, messages };
  }

  private send(subscription: Subscription, { to, lastAckedSequence, messages }: PreparedDelivery): void {
    subscription.cursor = to;
    subscription.lastAckedSequence = lastAckedSequence;
    subscription.subscriber.send(...messages);
  }
}
