import type { LedgerRow } from './rows.ts';

/** One sync engine: how to start its server and control its clients. Each runs in its own process. */
export interface Engine {
  /** Resolves once the server responds on 127.0.0.1. It keeps its data in `folder`. */
  startServer(port: number, folder: string): Promise<void>;
  createClient(port: number, name: string): Promise<SyncClient>;
  /**
   * A client without data that fetches everything, for libraries that start differently in this case. Default:
   * `createClient`.
   */
  createFreshClient?(port: number, name: string): Promise<SyncClient>;
  /** Default: the engine does not take part where receivers are measured. */
  createReceiver?(port: number): Promise<Receiver>;
}

/** A client that decodes what the server sends and stores nothing, so that the figures are those of the server. */
export interface Receiver {
  /** Goes online; resolves when the connection has started, not when all rows have arrived. */
  connect(): Promise<void>;
  /** The number of rows. */
  count(): number;
  /** Called for each row that comes from another client; after a first sync it may be called late or not at all. */
  onRow(listener: (id: string) => void): void;
  close(): Promise<void>;
}

/** One client, with its data in memory; all clients of a run share one database, room or document. */
export interface SyncClient extends Receiver {
  disconnect(): Promise<void>;
  /** Writes one row in its own transaction. Returns when the row is written locally. */
  insert(row: LedgerRow): void | Promise<void>;
  insertMany(rows: readonly LedgerRow[]): void | Promise<void>;
  /** Whether the server has acknowledged every local write, if the library reports it. */
  isSent(): boolean;
}
