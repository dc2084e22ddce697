/** What this tab shows about one topic: see shared/protocol/presence.ts. */
export interface OwnState {
  readonly topic: string;
  /** Null: it is shown no longer. */
  readonly stateJson: string | null;
}

/** What some tab shows, of whatever device, as the server tells it. */
export interface SeenState extends OwnState {
  /** A UUID. */
  readonly tabId: string;
  /** 32 hex digits: one device and database. */
  readonly siteId: string;
  readonly principal: string;
  readonly name: string | null;
  readonly sinceMs: number;
}

/** What has changed in who is here. */
export interface PeersUpdate {
  /** All there are, in the place of what was told before. */
  readonly whole: boolean;
  readonly seen: readonly SeenState[];
}
