/** The state that this tab shows about one topic: see shared/protocol/presence.ts. */
export interface OwnState {
  readonly topic: string;
  /** Null hides the state. */
  readonly stateJson: string | null;
}

/** The state that another tab shows, on any device, as sent by the server. */
export interface SeenState extends OwnState {
  /** A UUID. */
  readonly tabId: string;
  /** The site of the tab, 32 hex digits. */
  readonly siteId: string;
  readonly principal: string;
  readonly name: string | null;
  readonly sinceMs: number;
}

/** A change in the tabs that are present. */
export interface PeersUpdate {
  /** True: `seen` is the complete list and replaces the previous one. */
  readonly whole: boolean;
  readonly seen: readonly SeenState[];
}
