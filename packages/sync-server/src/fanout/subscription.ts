import type { RockpoolError } from '@rockpool/shared';
import type { ReadFilter } from '../store/read-filter.ts';

/** The part of a session that its database calls. */
export interface Subscriber {
  /** 32 hex digits. */
  readonly site: string;
  /** Whether the session has ended, possibly while it waited to join. */
  readonly hasEnded: boolean;
  /** Whether its principal has lost the right to write. Its pushes that are not decided yet are then refused. */
  readonly isRevoked?: boolean;
  /** Sends messages that belong together. */
  send(...messages: Uint8Array[]): void;
  /** Ends the session with a failure. */
  fail(error: RockpoolError): void;
}

/** A session's progress in the log. */
export interface Subscription {
  readonly subscriber: Subscriber;
  readonly filter: ReadFilter;
  readonly principal: string;
  /** The log epoch in which it joined, to which its watermarks belong. */
  readonly logEpoch: Uint8Array;
  /** Null until the principal has written as this site. */
  siteNumber: number | null;
  /** The watermark up to which rows were sent. The client may not have applied them yet. */
  cursor: number;
  lastAckedSequence: number;
  /** See Reader in pull/row-delivery.ts. */
  ownFrom: number;
}
