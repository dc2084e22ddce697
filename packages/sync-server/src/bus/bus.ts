/** What instances tell each other. It says that there is news, and where; the news itself is in the store. */
export type BusMessage =
  /** A database has this many commits. */
  | { readonly kind: 'commit'; readonly databaseId: string; readonly head: number }
  /** Who may do what in a database has changed. */
  | { readonly kind: 'members'; readonly databaseId: string };

/**
 * Tells all instances of a server, the sender's too. A message may be lost or come late, so whoever rests on it looks by themselves as well, only more seldom.
 * One contract holds for all of them: bus.contract.ts.
 */
export interface Bus {
  publish(message: BusMessage): void;
  /** Returns what ends it. */
  subscribe(listener: (message: BusMessage) => void): () => void;
  close(): Promise<void>;
}
