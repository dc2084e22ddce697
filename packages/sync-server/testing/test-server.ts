import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { CellValue } from '@rockpool/shared';
import type { Role } from '../src/auth/role.ts';
import { createSyncServer } from '../src/create-sync-server.ts';
import type { SyncServer, SyncServerOptions } from '../src/sync-server.ts';
import { databaseFileName, databasePath } from '../src/store/data-directory.ts';
import { SqliteFile } from '../src/sqlite/sqlite-file.ts';
import { askServer, type Ask } from './ask-server.ts';
import { RecordedPort } from './recorded-port.ts';
import { TestConnection, type TestSite } from './test-client.ts';
import { TEST_SCHEMA } from './test-schema.ts';

export const TEST_SECRET = 'c0ffee-0123456789-abcdefghijklmnop';
export const DATABASE = 'household';

interface Parts {
  readonly sync: SyncServer;
  readonly http: Server;
  readonly events: TestServer['events'];
  readonly lines: EventEmitter;
}

/** A server on a real port with real files. */
export class TestServer {
  readonly dataDir: string;
  readonly sync: SyncServer;
  readonly events: { readonly event: string; readonly fields: object }[];
  private readonly http: Server;
  /** Emits the name of each logged event. */
  private readonly lines: EventEmitter;

  private constructor(dataDir: string, { sync, http, events, lines }: Parts) {
    this.dataDir = dataDir;
    this.sync = sync;
    this.http = http;
    this.events = events;
    this.lines = lines;
  }

  static async start(dataDir: string, options: Partial<SyncServerOptions> = {}): Promise<TestServer> {
    const events: TestServer['events'] = [];
    const lines = new EventEmitter();
    const log: SyncServerOptions['log'] = (event, fields) => {
      events.push({ event, fields });
      lines.emit(`logged ${event}`);
    };
    // A test client sends nothing while its test waits for something else, which takes a long time on a busy machine.
    const limits = { silenceLimitMs: Infinity, ...options.limits };
    const sync = createSyncServer({ dataDir, schema: TEST_SCHEMA, secret: TEST_SECRET, log, ...options, limits });
    const app = new Hono();
    if (sync.admin !== null) app.route('/admin', sync.admin);
    const http = createAdaptorServer({ fetch: app.route('/sync', sync.app).route('/', sync.app).fetch }) as Server;
    sync.attach(http);
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
    return new TestServer(dataDir, { sync, http, events, lines });
  }

  get host(): string {
    return `127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  token(role: Role = 'editor', principal = 'ann', databaseId: string = DATABASE): Promise<string> {
    return this.sync.issueToken({ principal, databases: [databaseId], role, ttlMs: 3_600_000 });
  }

  connect(site?: TestSite, headers?: Record<string, string>): Promise<TestConnection> {
    return TestConnection.connect(`ws://${this.host}/sync`, site, headers);
  }

  /** Sends a plain HTTP request. */
  readonly ask: Ask = (...request) => askServer(this.host, ...request);

  /** Opens an additional port that records the bytes sent through it. */
  openRecordedPort(): Promise<RecordedPort> {
    return RecordedPort.open(this.http);
  }

  /** Opens a connection that has received the welcome and the first delivery. */
  async open(
    site?: TestSite,
    options: { principal?: string; databaseId?: string; role?: Role } = {},
  ): Promise<TestConnection> {
    const { principal = 'ann', databaseId = DATABASE, role = 'editor' } = options;
    const connection = await this.connect(site);
    await connection.open(await this.token(role, principal, databaseId), databaseId);
    return connection;
  }

  /** Resolves once the server has logged the event. */
  async logged(event: string): Promise<void> {
    if (!this.events.some((logged) => logged.event === event)) await once(this.lines, `logged ${event}`);
  }

  /** The path of the database file; with PostgreSQL of the server's working copy. */
  pathOf(databaseId: string = DATABASE): string {
    const copy = join(this.dataDir, 'working-copies', databaseFileName(databaseId));
    return existsSync(copy) ? copy : databasePath(this.dataDir, databaseId);
  }

  /** Reads the database file while the server runs, like a backend would. */
  query(sql: string, databaseId: string = DATABASE): readonly (readonly CellValue[])[] {
    const file = new SqliteFile(this.pathOf(databaseId), { readOnly: true });
    try {
      return file.all(sql);
    } finally {
      file.close();
    }
  }

  async stop(): Promise<void> {
    await this.sync.close();
    this.http.closeAllConnections();
    await new Promise<void>((resolve) => void this.http.close(() => resolve()));
  }
}
