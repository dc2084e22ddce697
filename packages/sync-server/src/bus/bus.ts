/**
 * What instances tell each other. It says that there is news, and where; the news itself is in the store. Presence,
 * which is in no store, goes as it is.
 */
export type BusMessage =
  /** A database has this many commits. */
  | { readonly kind: 'commit'; readonly databaseId: string; readonly head: number }
  /** Who may do what in a database has changed. */
  | { readonly kind: 'members'; readonly databaseId: string }
  /**
   * Who is here, at one instance: a `presence-update` of the protocol in base64. `asks`: the others shall say theirs.
   */
  | {
      readonly kind: 'presence';
      readonly databaseId: string;
      readonly instance: string;
      readonly update: string;
      readonly asks: boolean;
    };

/**
 * Tells all instances of a server, the sender's too. A message may be lost or come late, so whoever rests on it looks
 * by themselves as well, only more seldom. One contract holds for all of them: bus.contract.ts.
 */
export interface Bus {
  publish(message: BusMessage): void;
  /** Returns what ends it. */
  subscribe(listener: (message: BusMessage) => void): () => void;
  close(): Promise<void>;
}
