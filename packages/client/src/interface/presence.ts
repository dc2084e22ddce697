import type { Subscribable } from './subscribable.ts';

/** Another tab that has the database open, on this device or another. */
export interface Peer<State = unknown> {
  readonly tabId: string;
  /** The site of the tab, 32 hex digits. All tabs of one browser profile share it. */
  readonly siteId: string;
  /** The principal in the tab's token, as verified by the server. */
  readonly principal: string;
  /** The `name` in that token; null if it has none. */
  readonly name: string | null;
  /** A CSS colour derived from the principal, the same on every page and dark enough for white text. */
  readonly color: string;
  /** When the tab first showed a state, in ms since 1970 by the server's clock. */
  readonly sinceMs: number;
  /** The JSON state that the tab shows. It comes unverified from another device: validate it before use. */
  readonly state: State;
}

/**
 * The other tabs that are present, including those of this device. The tab that has been present longest comes first. A
 * tab is present while it is connected and shows a state. Nothing is stored, and without a connection the list is
 * empty. A tab that neither sets a state nor subscribes sends and receives nothing.
 */
export interface Presence extends Subscribable<readonly Peer[]> {
  /**
   * Shows this state to the others and replaces the previous one; null hides this tab. Sends at most ten times a
   * second, always the newest state. Throws `presence-invalid` for a value that is not JSON or exceeds 2 KB.
   */
  set(state: unknown): void;
}
