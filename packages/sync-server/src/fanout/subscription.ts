import type { RockpoolError } from '@rockpool/shared';
import type { ReadFilter } from '../store/read-filter.ts';

/** A session as its database sees it. */
export interface Subscriber {
  /** 32 hex digits. */
  readonly site: string;
  /** It has gone, perhaps while it was waiting to be let in. */
  readonly hasEnded: boolean;
  /** Messages that belong together. */
  send(...messages: Uint8Array[]): void;
  /** Ends the session with a failure. */
  fail(error: RockpoolError): void;
}

/** How far a session has been served. */
export interface Subscription {
  readonly subscriber: Subscriber;
  readonly filter: ReadFilter;
  /** Null until the site has written. */
  siteNumber: number | null;
  /** What has been sent, not what has been applied. */
  cursor: number;
  lastAckedSequence: number;
  ownFrom: number;
}
