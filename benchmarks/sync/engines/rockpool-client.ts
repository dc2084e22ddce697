import { loadChangelogCode } from '../../../packages/client/src/worker/changelog/load-changelog-code.ts';
import { openDatabase, type OpenDatabase } from '../../../packages/client/src/worker/database/open-database.ts';
import { loadSqlite } from '../../../packages/client/src/worker/sqlite/load-sqlite.node.ts';
import { toSyncDatabase } from '../../../packages/client/src/worker/sync/sync-database.ts';
import { createSyncEngine, type SyncEngine } from '../../../packages/client/src/worker/sync/sync-engine.ts';
import { connectOver } from '../../../packages/client/src/worker/sync/server-connection.ts';
import { webSocketTransport } from '../../../packages/client/src/worker/sync/web-socket-transport.ts';
import { issueToken } from '../../../packages/sync-server/src/index.ts';
import type { SyncClient } from '../engine.ts';
import type { LedgerRow } from '../rows.ts';
import { DATABASE_ID, schema, SECRET } from './rockpool-shared.ts';

const TOKEN_TTL_MS = 60 * 60_000;

const INSERT = 'INSERT INTO ledger (id, account, payee, amount_minor, day, notes) VALUES (?, ?, ?, ?, ?, ?)';

export async function createClient(port: number): Promise<SyncClient> {
  return new RockpoolClient(port, await openInMemory());
}

async function openInMemory(): Promise<OpenDatabase> {
  // An app's worker loads this code too. It packs a backlog once the server has decided it.
  await loadChangelogCode();
  return openDatabase({
    runtime: await loadSqlite(),
    path: ':memory:',
    role: 'writer',
    schema,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    nowMs: () => Date.now(),
    elapsedMs: () => performance.now(),
  });
}

class RockpoolClient implements SyncClient {
  readonly #database: OpenDatabase;
  readonly #engine: SyncEngine;
  #tell: (id: string) => void = () => undefined;
  #lastRowId = 0;
  #pendingCount = 0;

  constructor(port: number, database: OpenDatabase) {
    this.#database = database;
    this.#engine = createSyncEngine({
      url: `ws://127.0.0.1:${port}/sync`,
      databaseId: DATABASE_ID,
      token: () => issueToken(SECRET, { principal: 'ann', databases: [DATABASE_ID], ttlMs: TOKEN_TTL_MS }, Date.now()),
      database: toSyncDatabase({ database, elapsedMs: () => performance.now(), onApplied: () => this.#tellNewRows() }),
      connect: connectOver(webSocketTransport),
      onReport: (report) => {
        this.#pendingCount = report.pendingCount;
      },
      onProblem: (error) => console.error(error),
      onStuck: () => console.error('the worker is unresponsive'),
    });
  }

  async connect(): Promise<void> {
    this.#engine.start();
  }

  async disconnect(): Promise<void> {
    this.#engine.stop();
  }

  insert(row: LedgerRow): void {
    this.insertMany([row]);
  }

  insertMany(rows: readonly LedgerRow[]): void {
    const statements = rows.map(({ id, account, payee, amountMinor, day, notes }) => ({
      sql: INSERT,
      params: [id, account, payee, amountMinor, day, notes],
    }));
    this.#database.write({ id: crypto.randomUUID(), statements });
    this.#engine.committed();
  }

  count(): number {
    return Number(this.#database.connection.value('SELECT count(*) FROM ledger'));
  }

  onRow(listener: (id: string) => void): void {
    this.#tell = listener;
  }

  isSent(): boolean {
    return this.#pendingCount === 0;
  }

  async close(): Promise<void> {
    this.#engine.stop();
    this.#database.close();
  }

  #tellNewRows(): void {
    for (const [rowId, id] of this.#database.connection.rows(
      'SELECT rowid, id FROM ledger WHERE rowid > ?',
      this.#lastRowId,
    )) {
      this.#lastRowId = Number(rowId);
      this.#tell(String(id));
    }
  }
}
