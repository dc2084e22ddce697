// TinyBase: a mergeable store over its WebSocket synchronizer; the server keeps it in a JSON file, as its documentation
// does.
import { join } from 'node:path';
import { createMergeableStore, type MergeableStore } from 'tinybase';
import { createFilePersister } from 'tinybase/persisters/persister-file';
import { createWsSynchronizer, type WsSynchronizer } from 'tinybase/synchronizers/synchronizer-ws-client';
import { createWsServer } from 'tinybase/synchronizers/synchronizer-ws-server';
import type { Engine, SyncClient } from '../engine.ts';
import type { LedgerRow } from '../rows.ts';

const TABLE = 'ledger';
const LARGEST_MESSAGE_BYTES = 2 ** 30;

interface SocketServer {
  readonly WebSocketServer: new (
    options: { port: number; host: string; maxPayload: number },
    onListening: () => void,
  ) => object;
}

export const engine: Engine = {
  async startServer(port, folder) {
    const { WebSocketServer } = (await import('ws' as string)) as SocketServer;
    await new Promise<void>((resolve) => {
      const sockets = new WebSocketServer({ port, host: '127.0.0.1', maxPayload: LARGEST_MESSAGE_BYTES }, resolve);
      createWsServer(sockets, () => createFilePersister(createMergeableStore(), join(folder, 'store.json')));
    });
  },
  async createClient(port, name) {
    return new TinyBaseClient(port, name);
  },
};

class TinyBaseClient implements SyncClient {
  readonly #port: number;
  readonly #store: MergeableStore;
  #synchronizer: WsSynchronizer | undefined;

  constructor(port: number, name: string) {
    this.#port = port;
    this.#store = createMergeableStore(name);
  }

  async connect(): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}/benchmark`);
    this.#synchronizer = await createWsSynchronizer(this.#store, socket);
    // The call may wait for a response that never arrives, even though the data has arrived.
    void this.#synchronizer.startSync();
  }

  async disconnect(): Promise<void> {
    await this.#synchronizer?.destroy();
    this.#synchronizer = undefined;
  }

  insert({ id, ...cells }: LedgerRow): void {
    this.#store.setRow(TABLE, id, cells);
  }

  insertMany(rows: readonly LedgerRow[]): void {
    this.#store.transaction(() => {
      for (const row of rows) this.insert(row);
    });
  }

  count(): number {
    return this.#store.getRowCount(TABLE);
  }

  onRow(listener: (id: string) => void): void {
    this.#store.addRowListener(TABLE, null, (_store, _table, id) => listener(id));
  }

  /** The library does not report whether writes were sent. */
  isSent(): boolean {
    return true;
  }

  close(): Promise<void> {
    return this.disconnect();
  }
}
