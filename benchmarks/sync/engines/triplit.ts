// Triplit: one collection, server and clients in memory (its durable stores need native modules that are built on
// install).
import { createHmac } from 'node:crypto';
import { Schema, TriplitClient } from '@triplit/client';
import { createServer, createTriplitStorageProvider } from '@triplit/server';
import type { Engine, SyncClient } from '../engine.ts';
import type { LedgerRow } from '../rows.ts';

const SECRET = 'a secret of benchmarks only';
const PROJECT = 'benchmark';
const COLLECTION = 'ledger';

const collections = Schema.Collections({
  [COLLECTION]: {
    schema: Schema.Schema({
      id: Schema.Id(),
      account: Schema.String(),
      payee: Schema.String(),
      amountMinor: Schema.Number(),
      day: Schema.String(),
      notes: Schema.String(),
    }),
  },
});

export const engine: Engine = {
  async startServer(port) {
    const storage = await createTriplitStorageProvider('memory');
    const start = await createServer({
      storage,
      dbOptions: { schema: { collections } },
      jwtSecret: SECRET,
      projectId: PROJECT,
      logHandler: { log: () => undefined },
    });
    start(port);
  },
  async createClient(port) {
    return new TriplitLedger(port);
  },
};

class TriplitLedger implements SyncClient {
  readonly #client: TriplitClient;
  #tell: (id: string) => void = () => undefined;
  readonly #known = new Set<string>();
  #count = 0;
  #unsubscribe: (() => void) | undefined;

  constructor(port: number) {
    this.#client = new TriplitClient({
      storage: 'memory',
      serverUrl: `http://127.0.0.1:${port}`,
      token: token(),
      schema: collections,
      autoConnect: false,
      logLevel: 'error',
    });
  }

  async connect(): Promise<void> {
    this.#unsubscribe ??= this.#client.subscribe(
      this.#client.query(COLLECTION),
      (rows) => {
        this.#count = rows.length;
        for (const { id } of rows) {
          if (this.#known.has(id)) continue;
          this.#known.add(id);
          this.#tell(id);
        }
      },
      (error) => console.error(error),
    );
    await this.#client.connect();
  }

  async disconnect(): Promise<void> {
    this.#client.disconnect();
  }

  async insert(row: LedgerRow): Promise<void> {
    await this.#client.insert(COLLECTION, row);
  }

  async insertMany(rows: readonly LedgerRow[]): Promise<void> {
    await this.#client.transact(async (transaction) => {
      for (const row of rows) await transaction.insert(COLLECTION, row);
    });
  }

  count(): number {
    return this.#count;
  }

  onRow(listener: (id: string) => void): void {
    this.#tell = listener;
  }

  /** The library does not report whether writes were sent. */
  isSent(): boolean {
    return true;
  }

  async close(): Promise<void> {
    this.#unsubscribe?.();
    this.#client.disconnect();
  }
}

/** A JWT that grants every permission. */
function token(): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ 'x-triplit-token-type': 'secret', 'x-triplit-project-id': PROJECT, sub: 'ann' })}`;
  return `${content}.${createHmac('sha256', SECRET).update(content).digest('base64url')}`;
}
