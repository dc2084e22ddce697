// Hocuspocus: one Yjs document with a map of rows, each of which is a map. Its server saves the document in SQLite two
// seconds after a change, which is its default.
import { Database } from '@hocuspocus/extension-database';
import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider';
import { Server } from '@hocuspocus/server';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import type { Map as YMap } from '../../../packages/shared/node_modules/yjs/dist/src/index.js';
import type { Engine, SyncClient } from '../engine.ts';
import type { LedgerRow } from '../rows.ts';

const DOCUMENT = 'benchmark';
const ROWS = 'rows';
// The copy that the provider uses: two copies of Yjs do not know each other's types.
const Y = (await import(
  'yjs' as string
)) as typeof import('../../../packages/shared/node_modules/yjs/dist/src/index.js');

export const engine: Engine = {
  async startServer(port, folder) {
    const database = new DatabaseSync(join(folder, 'documents.sqlite'));
    database.exec('CREATE TABLE documents (name TEXT PRIMARY KEY, data BLOB NOT NULL)');
    const read = database.prepare('SELECT data FROM documents WHERE name = ?');
    const write = database.prepare(
      'INSERT INTO documents VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET data = excluded.data',
    );
    const storage = new Database({
      fetch: async ({ documentName }) => (read.get(documentName)?.['data'] as Uint8Array | undefined) ?? null,
      store: async ({ documentName, state }) => void write.run(documentName, state),
    });
    await new Server({ port, address: '127.0.0.1', quiet: true, extensions: [storage] }).listen();
  },
  async createClient(port) {
    return new HocuspocusClient(port);
  },
  async createReceiver(port) {
    const { HocuspocusReceiver } = await import('./hocuspocus-receiver.ts');
    return new HocuspocusReceiver(port, DOCUMENT, ROWS);
  },
};

class HocuspocusClient implements SyncClient {
  readonly #port: number;
  readonly #document = new Y.Doc();
  readonly #rows = this.#document.getMap<YMap<unknown>>(ROWS);
  #provider: HocuspocusProvider | undefined;
  #socket: HocuspocusProviderWebsocket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  connect(): Promise<void> {
    const websocketProvider = new HocuspocusProviderWebsocket({
      url: `ws://127.0.0.1:${this.#port}`,
      delay: 200,
      minDelay: 100,
      jitter: false,
    });
    this.#socket = websocketProvider;
    return new Promise((resolve) => {
      this.#provider = new HocuspocusProvider({
        websocketProvider,
        name: DOCUMENT,
        document: this.#document,
        token: 'none',
        onSynced: () => resolve(),
      });
      this.#provider.attach();
    });
  }

  async disconnect(): Promise<void> {
    this.#provider?.destroy();
    this.#socket?.destroy();
    this.#provider = this.#socket = undefined;
  }

  insert(row: LedgerRow): void {
    this.insertMany([row]);
  }

  insertMany(rows: readonly LedgerRow[]): void {
    this.#document.transact(() => {
      for (const { id, ...cells } of rows) this.#rows.set(id, new Y.Map(Object.entries(cells)));
    });
  }

  count(): number {
    return this.#rows.size;
  }

  onRow(listener: (id: string) => void): void {
    this.#rows.observe((event) => {
      for (const id of event.keysChanged) listener(id);
    });
  }

  isSent(): boolean {
    return this.#provider !== undefined && !this.#provider.hasUnsyncedChanges;
  }

  close(): Promise<void> {
    return this.disconnect();
  }
}
