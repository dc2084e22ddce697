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

interface SharedDelivery {
  readonly parts: readonly Uint8Array[];
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

/** Sends each session the rows above its cursor and the outcomes of its own pushes. */
export class Deliveries {
  private readonly file: DatabaseFile;
  private readonly partBytes: number;

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
    const groups = deliveredGroups(
      this.file,
      update.changed,
      { siteNumber: subscription.siteNumber, from, ownFrom: subscription.ownFrom },
      decided.flatMap(({ corrected }) => corrected),
    );
    return this.encodeMessages(
      subscription,
      decided.map(({ outcome }) => outcome),
      this.encode(groups, subscription.filter),
    );
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
    const { siteNumber, lastAckedSequence, cursor: from } = subscription;
    const decided = siteNumber === null ? [] : outcomesAfter(this.file.sql, siteNumber, lastAckedSequence);
    const groups = deliveredGroups(this.file, new ChangedRows(this.file), { siteNumber: null, from, ownFrom: 0 }, []);
    this.send(
      subscription,
      this.encodeMessages(
        subscription,
        decided.map(({ outcome }) => outcome),
        this.encode(groups, subscription.filter),
        true,
      ),
    );
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
    const parts =
      known?.parts ?? this.encode(deliveredGroups(this.file, changed, { siteNumber, from, ownFrom }, []), filter);
    const prepared = this.encodeMessages(subscription, [], parts);
    if (known !== undefined) known.prepared = prepared;
    else if (isShared) shared.set(name, { parts, prepared });
    return prepared;
  }

  private encode(groups: readonly ChangeGroup[], filter: ReadFilter): readonly Uint8Array[] {
    return encodeParts(readableGroups(groups, filter), this.partBytes);
  }

  private encodeMessages(
    { cursor: from, lastAckedSequence: acknowledgedBefore }: Subscription,
    outcomes: Parameters<typeof encodeDelivery>[0]['outcomes'],
    parts: readonly Uint8Array[],
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
    const messages = [...parts.slice(0, -1).map(encodeDeliveryPart), encodeDelivery(head, parts.at(-1) as Uint8Array)];
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
