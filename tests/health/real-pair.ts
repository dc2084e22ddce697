import { encodeMessage, type ClientMessage, type RockpoolError, type ServerMessage } from '#shared/index.ts';
import type { SqlParam } from '#client/rpc/sql-value.ts';
import type { OpenDatabase, OpenDatabaseOptions } from '#client/worker/database/open-database.ts';
import { toSyncDatabase } from '#client/worker/sync/sync-database.ts';
import { createSyncEngine, type SyncEngine } from '#client/worker/sync/sync-engine.ts';
import type { SyncReport } from '#client/worker/sync/sync-status.ts';
import { connectOver } from '#client/worker/sync/server-connection.ts';
import { webSocketTransport } from '#client/worker/sync/web-socket-transport.ts';
import { openInMemory, testSchema } from '#client/testing/worker/test-database.ts';
import type { SyncServerOptions } from '#sync-server/sync-server.ts';
import { DATABASE, TestServer } from '#sync-server/testing/test-server.ts';
import { until } from '#kit/until.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

/** The real database and sync of one device, in this process. */
export class Device {
  readonly database: OpenDatabase;
  readonly problems: RockpoolError[] = [];
  /** The sent and received messages. */
  readonly sizes: { readonly type: string; readonly sizeBytes: number }[] = [];
  /** Called before a message is handled. */
  onMessage: (type: string) => void = () => undefined;
  report: SyncReport | null = null;
  /** Read only: pending writes are not sent. */
  role: 'editor' | 'viewer' = 'editor';
  private readonly engine: SyncEngine;
  private requests = 0;

  constructor(server: TestServer, options: Partial<OpenDatabaseOptions> = {}) {
    this.database = openInMemory({
      ...options,
      randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
      nowMs: Date.now,
      elapsedMs: () => performance.now(),
    });
    this.engine = createSyncEngine({
      url: `ws://${server.host}/sync`,
      databaseId: DATABASE,
      token: () => server.token(this.role),
      database: toSyncDatabase({
        database: this.database,
        elapsedMs: () => performance.now(),
        onApplied: () => undefined,
      }),
      connect: (url, events) => {
        const socket = connectOver(webSocketTransport)(url, {
          ...events,
          onMessage: (message) => {
            this.note(message);
            this.onMessage(message.type);
            events.onMessage(message);
          },
        });
        return {
          ...socket,
          send: (message) => {
            this.note(message);
            socket.send(message);
          },
        };
      },
      onReport: (report) => {
        this.report = report;
      },
      onStuck: () => undefined,
      onProblem: (error) => void this.problems.push(error),
      // Repeats until it succeeds.
      auditTimes: { quietMs: 0, intervalMs: 20 },
    });
    this.engine.start();
  }

  write(sql: string, ...params: readonly SqlParam[]): void {
    this.requests++;
    this.database.write({ id: `r${this.requests}`, statements: [{ sql, params }] });
    this.engine.committed();
  }

  rows(sql: string): unknown[] {
    return this.database.connection.rows(sql);
  }

  /** Resolves once the condition holds. The test's deadline is the limit. */
  until(isSo: () => boolean): Promise<void> {
    return until(isSo);
  }

  private note(message: ClientMessage | ServerMessage): void {
    this.sizes.push({ type: message.type, sizeBytes: encodeMessage(message).length });
  }

  reconnect(): void {
    this.engine.stop();
    this.engine.start();
  }

  close(): void {
    this.engine.stop();
    this.database.close();
  }
}

/** Runs a test with its own server and devices. */
export async function withServer(
  body: (server: TestServer, device: (options?: Partial<OpenDatabaseOptions>) => Device) => Promise<void>,
  options: Partial<SyncServerOptions> = {},
): Promise<void> {
  const folder = temporaryFolder();
  const server = await TestServer.start(folder, { schema: testSchema, ...options });
  const devices: Device[] = [];
  try {
    await body(server, (deviceOptions) => {
      const device = new Device(server, deviceOptions);
      devices.push(device);
      return device;
    });
  } finally {
    for (const device of devices) device.close();
    await server.stop();
  }
}
