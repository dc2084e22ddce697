/**
 * A message between instances. It announces that something in the store has changed; the change itself is read from the
 * store. Presence is not stored, so the message contains it.
 */
export type BusMessage =
  /** A database has reached this number of commits. `traceparent` is that of a traced push in the last commit. */
  | {
      readonly kind: 'commit';
      readonly databaseId: string;
      readonly head: number;
      readonly traceparent?: string;
    }
  /** The members of a database have changed or were deleted. */
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

/** The commits and the presence of one database, or changes of members in any database. */
export type BusTopic = 'members' | { readonly databaseId: string };

export interface BusState {
  /** Whether messages arrive from other instances now. */
  readonly isConnected: boolean;
  /** How often the connection was restored since the start. */
  readonly reconnects: number;
  /** Messages that this instance failed to send since the start. */
  readonly lost: number;
}

/**
 * Broadcasts to all instances of a server, including the sender. A message may be lost or late, so subscribers also
 * poll, at a low rate. Every implementation passes bus.contract.ts.
 */
export interface Bus {
  publish(message: BusMessage): void;
  /** Returns a function that ends the subscription. */
  subscribe(topic: BusTopic, listener: (message: BusMessage) => void): () => void;
  readonly state: BusState;
  /**
   * Resolves after the first attempt to connect, successful or not: a server works without its bus. Throws
   * `config-invalid` for a problem that no retry can solve.
   */
  ready(): Promise<void>;
  close(): Promise<void>;
}
