import type { LedgerRow } from './rows.ts';

/** One way to sync: how its server is started and how its clients are spoken to. Each runs in a process of its own. */
export interface Engine {
  /** Answers on 127.0.0.1 when it resolves, and keeps its data in `folder`. */
  startServer(port: number, folder: string): Promise<void>;
  createClient(port: number, name: string): Promise<SyncClient>;
  /**
   * A client that has nothing and wants everything, where the library begins in another way then. Default:
   * `createClient`.
   */
  createFreshClient?(port: number, name: string): Promise<SyncClient>;
}

/** One client, with its data in memory; all clients of a run share one database, room or document. */
export interface SyncClient {
  /** Goes online; resolves when it has begun, not when all has come. */
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  /** One row, in a transaction of its own. Returns when it is written here. */
  insert(row: LedgerRow): void | Promise<void>;
  insertMany(rows: readonly LedgerRow[]): void | Promise<void>;
  /** How many rows are here. */
  count(): number;
  /** Called for each row that comes from another client; after a first sync it may be called late or not at all. */
  onRow(listener: (id: string) => void): void;
  /** Whether the server has acknowledged everything that was written here, as far as the library tells. */
  isSent(): boolean;
  close(): Promise<void>;
}
