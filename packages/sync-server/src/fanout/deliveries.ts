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

/** What a commit has changed, read and encoded once for all who stand at the same place. */
export interface LogUpdate {
  readonly changed: ChangedRows;
  /** The parts for those who wrote nothing. */
  readonly encoded: Map<string, readonly Uint8Array[]>;
}

/** Sends each session what the log has beyond its cursor, with the outcomes of its own pushes. */
export class Deliveries {
  private readonly file: DatabaseFile;
  private readonly partBytes: number;

  constructor(file: DatabaseFile, partBytes: number) {
    this.file = file;
    this.partBytes = partBytes;
  }

  /** To be shared by all sessions that are served after one commit. */
  update(): LogUpdate {
    return { changed: new ChangedRows(this.file), encoded: new Map() };
  }

  /** `isAuthor`: a reader with outcomes or cells of their own to consider. */
  deliver(subscription: Subscription, update: LogUpdate, isAuthor: boolean, isFirst: boolean): void {
    const { subscriber, cursor: from } = subscription;
    const to = this.file.log.watermark;
    if (!isAuthor) {
      if (to > from) this.send(subscription, to, [], this.sharedGroups(subscription, update));
      return;
    }
    subscription.siteNumber ??= this.file.sites.get(subscriber.site)?.number ?? null;
    const decided =
      subscription.siteNumber === null
        ? []
        : outcomesAfter(this.file.sql, subscription.siteNumber, subscription.lastAckedSequence);
    if (!isFirst && to === from && decided.length === 0) return; // a push that was decided, and answered, before
    const groups = deliveredGroups(
      this.file,
      update.changed,
      { siteNumber: subscription.siteNumber, from, ownFrom: subscription.ownFrom },
      decided.flatMap(({ corrected }) => corrected),
    );
    this.send(
      subscription,
      to,
      decided.map(({ outcome }) => outcome),
      this.encode(groups, subscription.filter),
    );
  }

  /**
   * Everything there is beyond the file that they hold, if they do, as to somebody new, with the outcomes that the site
   * does not know.
   */
  deliverWhole(subscription: Subscription): void {
    const { siteNumber, lastAckedSequence, cursor: from } = subscription;
    const decided = siteNumber === null ? [] : outcomesAfter(this.file.sql, siteNumber, lastAckedSequence);
    const groups = deliveredGroups(this.file, new ChangedRows(this.file), { siteNumber: null, from, ownFrom: 0 }, []);
    this.send(
      subscription,
      this.file.log.watermark,
      decided.map(({ outcome }) => outcome),
      this.encode(groups, subscription.filter),
      true,
    );
  }

  private sharedGroups(
    { cursor: from, siteNumber, ownFrom, filter }: Subscription,
    { changed, encoded }: LogUpdate,
  ): readonly Uint8Array[] {
    // A site's own number does not matter where it wrote nothing; that it has written at all does (row-delivery.ts).
    const name = `${from}:${siteNumber === null ? 'reads' : 'writes'}`;
    const isShared = readsEverything(filter);
    const known = isShared ? encoded.get(name) : undefined;
    if (known !== undefined) return known;
    const parts = this.encode(deliveredGroups(this.file, changed, { siteNumber, from, ownFrom }, []), filter);
    if (isShared) encoded.set(name, parts);
    return parts;
  }

  private encode(groups: readonly ChangeGroup[], filter: ReadFilter): readonly Uint8Array[] {
    return encodeParts(readableGroups(groups, filter), this.partBytes);
  }

  private send(
    subscription: Subscription,
    to: number,
    outcomes: Parameters<typeof encodeDelivery>[0]['outcomes'],
    parts: readonly Uint8Array[],
    whole: boolean = false,
  ): void {
    const { subscriber, cursor: from } = subscription;
    const lastAckedSequence = outcomes.at(-1)?.sequence ?? subscription.lastAckedSequence;
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
    // Only a single row can be that large.
    const sizeBytes = Math.max(...messages.map(({ length }) => length));
    if (sizeBytes > MAX_MESSAGE_BYTES)
      throw new RockpoolError('frame-too-large', { sizeBytes, limitBytes: MAX_MESSAGE_BYTES });
    subscription.cursor = to;
    subscription.lastAckedSequence = lastAckedSequence;
    subscriber.send(...messages);
  }
}
