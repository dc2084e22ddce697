import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDevice, type Device } from '#client/node/index.ts';
import { sql, type Client, type SyncOptions } from '#client/index.ts';
import { buildSchema, type RockpoolError } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { run as runCommand } from '#sync-server/cli.ts';
import { createSyncServer, type SyncServer } from '#sync-server/index.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

const schema = buildSchema([sampleTable('note', [sampleColumn('id', 'text', { notNull: true })])]);
const DATABASE = 'team';

/** A server on files, whose port stays the same across restarts. */
class RestartedServer {
  readonly dataDir = temporaryFolder();
  port = 0;
  private sync: SyncServer | null = null;
  private http: Server | null = null;

  async start(): Promise<void> {
    this.sync = createSyncServer({
      dataDir: this.dataDir,
      schema,
      secret: 'a secret of tests only, 0123456789abcdef',
      log: () => undefined,
    });
    this.http = createServer();
    this.sync.attach(this.http);
    await new Promise<void>((resolve) => void this.http?.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.http.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    await this.sync?.close();
    this.http?.closeAllConnections();
    await new Promise<void>((resolve) => void this.http?.close(() => resolve()));
  }

  options(databaseId = DATABASE): SyncOptions {
    return {
      url: `ws://127.0.0.1:${this.port}/sync`,
      databaseId,
      token: async () =>
        (await this.sync?.issueToken({ principal: 'ann', databases: [databaseId], ttlMs: 3_600_000 })) ?? '',
    };
  }
}

const servers: RestartedServer[] = [];
const clients: Client[] = [];

async function startServer(): Promise<RestartedServer> {
  const server = new RestartedServer();
  servers.push(server);
  await server.start();
  return server;
}

interface Tab {
  readonly client: Client;
  readonly told: RockpoolError[];
}

async function open(device: Device, sync: SyncOptions): Promise<Tab> {
  const told: RockpoolError[] = [];
  const client = await device.createClient({ name: 'notes', schema, sync, onError: (error) => void told.push(error) });
  clients.push(client);
  return { client, told };
}

function reaches(client: Client, state: string): Promise<void> {
  return new Promise((resolve) => {
    client.status.subscribe((status) => {
      if (status.state === state) resolve();
    });
  });
}

const idsIn = async (client: Client): Promise<string[]> =>
  (await client.query<{ id: string }>('SELECT id FROM note ORDER BY id')).map(({ id }) => id);

/** The rows of a new device. */
async function rowsOn(server: RestartedServer): Promise<string[]> {
  const { client } = await open(createDevice(), server.options());
  await reaches(client, 'up-to-date');
  return idsIn(client);
}

let server: RestartedServer;
let device: Device;
let tabs: Tab[];

/** Two tabs of a device with one synced row and one pending row. */
beforeEach(async () => {
  server = await startServer();
  device = createDevice();
  tabs = [await open(device, server.options()), await open(device, server.options())];
  await tabs[0]?.client.execute(sql`INSERT INTO note VALUES ('sent')`).synced;
  await server.stop();
  await tabs[1]?.client.execute(sql`INSERT INTO note VALUES ('unsent')`);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(servers.splice(0).map((started) => started.stop().catch(() => undefined)));
});

async function expectBlocked({ client, told }: Tab): Promise<void> {
  await reaches(client, 'blocked');
  expect(client.status.current).toMatchObject({
    state: 'blocked',
    pendingCount: 1,
    reason: {
      code: 'database-mismatch',
      recovery: 'ask-user',
      message: expect.stringContaining('back it up and leave it') as string,
    },
  });
  expect(told.map(({ code }) => code)).toEqual(['database-mismatch']);
  expect(await idsIn(client)).toEqual(['sent', 'unsent']);
}

it('a deleted and re-created server database counts as a different one: every tab reports it, keeps its rows and sends none', async () => {
  expect(await runCommand(['databases', 'delete', DATABASE, '--data', server.dataDir])).toBe(0);
  await server.start();
  for (const { client } of tabs) await client.sync.tryNow();
  for (const tab of tabs) await expectBlocked(tab);
  expect(await rowsOn(server)).toEqual([]);
  // Blocked clients still write locally and make backups. A client that leaves the old database can start with the new
  // one.
  const [first, second] = tabs as [Tab, Tab];
  await second.client.execute(sql`INSERT INTO note VALUES ('later')`);
  expect((await first.client.backup()).size).toBeGreaterThan(0);
  await first.client.close();
  await expect(second.client.leave()).rejects.toMatchObject({ code: 'changes-unsent' });
  await second.client.leave({ discardUnsent: true });
  clients.length = 0;
  const { client } = await open(device, server.options());
  await reaches(client, 'up-to-date');
  expect(await idsIn(client)).toEqual([]);
});

it('a database with the same id on another server counts as a different one, even if a device opens its old file for it', async () => {
  for (const { client } of tabs) await client.close();
  clients.length = 0;
  const elsewhere = await startServer();
  const tab = await open(device, elsewhere.options());
  await expectBlocked(tab);
  expect(await rowsOn(elsewhere)).toEqual([]);
  await tab.client.close();
  // With its own server everything continues, and pending writes are sent.
  await server.start();
  const { client } = await open(device, server.options());
  await reaches(client, 'up-to-date');
  expect(await rowsOn(server)).toEqual(['sent', 'unsent']);
});

it('a server that moved or was restored from a backup counts as the same database', async () => {
  const backup = temporaryFolder();
  expect(await runCommand(['backup', backup, '--data', server.dataDir])).toBe(0);
  const moved = new RestartedServer();
  servers.push(moved);
  expect(await runCommand(['restore', backup, '--data', moved.dataDir])).toBe(0);
  await moved.start();
  for (const { client } of tabs) await client.close();
  const { client, told } = await open(device, moved.options());
  await reaches(client, 'up-to-date');
  expect([await idsIn(client), told]).toEqual([['sent', 'unsent'], []]);
  expect(await rowsOn(moved)).toEqual(['sent', 'unsent']);
});
