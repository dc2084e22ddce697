import { createDevice } from '../../../packages/client/src/node/index.ts';
import type { Client } from '../../../packages/client/src/client.ts';
import { loadSqlite } from '../../../packages/client/src/worker/sqlite/load-sqlite.node.ts';
import { issueToken } from '../../../packages/sync-server/src/index.ts';
import type { SyncClient } from '../engine.ts';
import { DATABASE_ID, schema, SECRET } from './rockpool-shared.ts';

const TOKEN_TTL_MS = 60 * 60_000;

/** The client as an app uses it, on a device without data. */
export async function createFreshClient(port: number): Promise<SyncClient> {
  await loadSqlite();
  return new FreshClient(port);
}

class FreshClient implements SyncClient {
  readonly #port: number;
  #client: Client | null = null;
  #count = 0;

  constructor(port: number) {
    this.#port = port;
  }

  async connect(): Promise<void> {
    this.#client = await createDevice().createClient({
      name: DATABASE_ID,
      schema,
      sync: {
        url: `ws://127.0.0.1:${this.#port}/sync`,
        databaseId: DATABASE_ID,
        token: () =>
          issueToken(SECRET, { principal: 'ann', databases: [DATABASE_ID], ttlMs: TOKEN_TTL_MS }, Date.now()),
        firstSync: {},
      },
    });
    await this.#recount();
  }

  disconnect(): Promise<void> {
    return this.close();
  }

  insert(): never {
    throw new Error('a first-sync client does not write');
  }

  insertMany(): never {
    return this.insert();
  }

  count(): number {
    void this.#recount();
    return this.#count;
  }

  onRow(): void {
    // A first sync measures only the number of rows.
  }

  isSent(): boolean {
    return true;
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  async #recount(): Promise<void> {
    const [row] = (await this.#client?.query<{ count: number }>('SELECT count(*) AS count FROM ledger')) ?? [];
    this.#count = row?.count ?? 0;
  }
}
