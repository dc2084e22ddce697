/**
 * A message between instances. It announces that something in the store has changed; the change itself is read from the
 * store. Presence is not stored, so the message contains it.
 */
export type BusMessage =
  /** A database has reached this number of commits. */
  | { readonly kind: 'commit'; readonly databaseId: string; readonly head: number }
  /** The members of a database have changed. */
  | { readonly kind: 'members'; readonly databaseId: string }
  /**
   * Presence at one instance: a `presence-update` of the protocol in base64. `asks` requests the presence of the other
   * instances.
   */
  | {
      readonly kind: 'presence';
      readonly databaseId: string;
      readonly instance: string;
      readonly update: string;
      readonly asks: boolean;
    };

/**
 * Broadcasts to all instances of a server, including the sender. A message may be lost or late, so subscribers also
 * poll, at a low rate. Every implementation passes bus.contract.ts.
 */
export interface Bus {
  publish(message: BusMessage): void;
  /** Returns a function that ends the subscription. */
  subscribe(listener: (message: BusMessage) => void): () => void;
  close(): Promise<void>;
}
