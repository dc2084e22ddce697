// Evolu: its own worker in this process, data in SQLite in memory, end-to-end encrypted for one owner.
import * as evolu from 'evolu-common-7';
import * as localFirst from 'evolu-common-7/local-first';
import type { DatabaseSync } from 'node:sqlite';
import type { Engine, SyncClient } from '../engine.ts';
import type { LedgerRow } from '../rows.ts';
import { openEvoluDriver } from './evolu-sqlite.ts';
import { gatedSocketClass, SocketGate } from './socket-gate.ts';

const OWNER_SECRET = new Uint8Array(32).fill(7);
const NEWEST = 30;
const schema = {
  ledger: {
    id: evolu.id('Ledger'),
    account: evolu.String,
    payee: evolu.String,
    amountMinor: evolu.Int,
    day: evolu.String,
    notes: evolu.String,
  },
};
let names = 0;

export const engine: Engine = {
  async startServer(port, folder) {
    const { startEvoluRelay } = await import('./evolu-relay.ts');
    await startEvoluRelay(port, folder);
  },
  async createClient(port) {
    const client = new EvoluLedger(port);
    await client.open();
    return client;
  },
};

class EvoluLedger implements SyncClient {
  readonly #gate = new SocketGate();
  readonly #evolu: localFirst.Evolu;
  #database: DatabaseSync | undefined;
  #tell: (id: string) => void = () => undefined;

  constructor(port: number) {
    const console = evolu.createConsole();
    const randomBytes = evolu.createRandomBytes();
    const time = evolu.createTime();
    const createSqliteDriver = async (): Promise<unknown> => {
      const { driver, database } = openEvoluDriver(':memory:');
      this.#database = database;
      return driver;
    };
    const WebSocketConstructor = gatedSocketClass(this.#gate);
    const createWebSocket = (url: string, options: object): unknown =>
      evolu.createWebSocket(url, {
        ...options,
        WebSocketConstructor,
        retryOptions: { retries: evolu.maxPositiveInt, initialDelay: '200ms', maxDelay: '500ms' },
      });
    const createDbWorker = (): unknown =>
      localFirst.createDbWorkerForPlatform({
        console,
        createSqliteDriver,
        createWebSocket,
        random: evolu.createRandom(),
        randomBytes,
        time,
      });
    const owner = localFirst.createAppOwner(OWNER_SECRET);
    this.#evolu = localFirst.createEvolu({ console, createDbWorker, randomBytes, reloadApp: () => undefined, time })(
      schema,
      {
        name: evolu.SimpleName.orThrow(`benchmark${process.pid}x${++names}`),
        inMemory: true,
        externalAppOwner: owner,
        transports: [{ type: 'WebSocket', url: `ws://127.0.0.1:${port}?ownerId=${owner.id}` }],
      },
    );
    this.#evolu.useOwner(owner);
  }

  async open(): Promise<void> {
    await this.#evolu.appOwner;
    const known = new Set<string>();
    const newest = this.#evolu.createQuery((database) =>
      database.selectFrom('ledger').select(['id']).orderBy('createdAt', 'desc').limit(NEWEST),
    );
    this.#evolu.subscribeQuery(newest)(() => {
      for (const { id } of this.#evolu.getQueryRows(newest)) {
        if (known.has(id)) continue;
        known.add(id);
        this.#tell(id);
      }
    });
    await this.#evolu.loadQuery(newest);
  }

  async connect(): Promise<void> {
    this.#gate.open();
  }

  async disconnect(): Promise<void> {
    this.#gate.close();
  }

  insert(row: LedgerRow): Promise<void> {
    return new Promise((resolve, reject) => {
      const result = this.#evolu.upsert('ledger', row, { onComplete: resolve });
      if (!result.ok) reject(new Error(JSON.stringify(result.error)));
    });
  }

  async insertMany(rows: readonly LedgerRow[]): Promise<void> {
    await Promise.all(rows.map((row) => this.insert(row)));
  }

  count(): number {
    return Number(this.#database?.prepare('SELECT count(*) AS count FROM ledger').get()?.['count'] ?? 0);
  }

  onRow(listener: (id: string) => void): void {
    this.#tell = listener;
  }

  /** The library does not report whether writes were sent. */
  isSent(): boolean {
    return true;
  }

  async close(): Promise<void> {
    this.#gate.close();
  }
}
