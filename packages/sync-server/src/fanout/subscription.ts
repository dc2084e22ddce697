import type { RockpoolError } from '@rockpool/shared';
import type { ReadFilter } from '../store/read-filter.ts';

/** A session as its database sees it. */
export interface Subscriber {
  /** 32 hex digits. */
  readonly site: string;
  /** The session has ended, perhaps while it waited to join. */
  readonly hasEnded: boolean;
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
  /** The log epoch in which it joined, and which its watermarks belong to. */
  readonly logEpoch: Uint8Array;
  /** Null until the principal has written as this site. */
  siteNumber: number | null;
  /** The watermark up to which rows were sent, but not necessarily applied. */
  cursor: number;
  lastAckedSequence: number;
  /** See Reader in pull/row-delivery.ts. */
  ownFrom: number;
}
