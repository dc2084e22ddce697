import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { newId, sql, type Client } from '#client/index.ts';
import { createClient, inProcess, type NodeSyncOptions, type NodeClientOptions } from '#client/node/index.ts';
import { buildSchema, encodeSchema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { createSyncServer, type SyncServer } from '#sync-server/index.ts';
import { accessToSyncServer } from '#kit/sync-server.ts';

const schema = buildSchema([
  sampleTable('item', [sampleColumn('id', 'text', { notNull: true }), sampleColumn('title', 'text')]),
]);
const clients: Client[] = [];
const folders: string[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function open(sync: NodeSyncOptions): Promise<Client> {
  const client = await createClient({ name: 'items', schema, sync });
  clients.push(client);
  return client;
}

async function addItem(client: Client, title: string): Promise<void> {
  await client.execute(sql`INSERT INTO item (id, title) VALUES (${newId()}, ${title})`).synced;
}

async function titles(client: Client): Promise<unknown[]> {
  return (await client.query<{ title: string }>('SELECT title FROM item ORDER BY title')).map(({ title }) => title);
}

it('in-process: syncs, downloads a first snapshot and reconnects, without any socket or HTTP request', async () => {
  const sockets = vi.spyOn(globalThis, 'WebSocket');
  const requests = vi.spyOn(globalThis, 'fetch');
  const dataDir = mkdtempSync(join(tmpdir(), 'rockpool-in-process-'));
  folders.push(dataDir);
  const start = (): SyncServer =>
    createSyncServer({
      dataDir,
      schema,
      secret: 'a secret of tests only, 0123456789abcdef',
      log: () => undefined,
      snapshots: { minFileBytes: 1 },
    });
  let server = start();
  const sync: NodeSyncOptions = {
    url: 'ws://in-process/anywhere',
    databaseId: 'list',
    token: () => server.issueToken({ principal: 'ann', databases: ['list'], ttlMs: 3_600_000 }),
    transport: inProcess({
      connect: (client) => server.connect(client),
      app: { fetch: (request) => server.app.fetch(request) },
    }),
  };
  const phone = await open(sync);
  await addItem(phone, 'bread');

  const received: number[] = [];
  const laptop = await open({
    ...sync,
    firstSync: { onProgress: ({ receivedBytes }) => received.push(receivedBytes) },
  });
  await expect.poll(() => titles(laptop)).toEqual(['bread']);
  expect(received.at(-1)).toBeGreaterThan(0);

  await server.close();
  await expect.poll(() => phone.status.current.state).toBe('offline');
  server = start();
  await phone.sync.tryNow();
  await laptop.sync.tryNow();
  await addItem(phone, 'milk');
  await expect.poll(() => titles(laptop)).toHaveLength(2);
  expect([sockets.mock.calls, requests.mock.calls]).toEqual([[], []]);
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.close();
});

it.each(['http', 'websocket', 'auto'] as const)('%s: syncs over the named transport', async (transport) => {
  const sockets = vi.spyOn(globalThis, 'WebSocket');
  const requests = vi.spyOn(globalThis, 'fetch');
  const { url, token } = await accessToSyncServer(encodeSchema(schema), `list-${transport}`, 'http://localhost');
  const client = await open({ url, databaseId: `list-${transport}`, token: () => token, transport });
  await addItem(client, 'bread');
  const sessions = requests.mock.calls.filter(
    ([address]) => typeof address === 'string' && address.includes('/sessions'),
  );
  expect([sockets.mock.calls.length > 0, sessions.length > 0]).toEqual([transport !== 'http', transport === 'http']);
});

it('createClient rejects null in place of options with config-invalid', async () => {
  const given = { name: 'items', schema, sync: null, migrations: null } as unknown as NodeClientOptions;
  await expect(createClient(given)).rejects.toMatchObject({ code: 'config-invalid', fields: { count: 4 } });
});

it('createClient rejects a call without options with config-invalid', async () => {
  const create = createClient as (options?: NodeClientOptions) => Promise<unknown>;
  await expect(create()).rejects.toMatchObject({ code: 'config-invalid', fields: { count: 2 } });
});

it('createClient rejects an unknown transport with config-invalid', async () => {
  const sync = { url: 'ws://localhost', databaseId: 'list', token: () => '', transport: 'pigeon' as 'http' };
  await expect(createClient({ name: 'items', schema, sync })).rejects.toMatchObject({
    code: 'config-invalid',
    fields: { problems: 'sync.transport: must be one of auto, websocket, http' },
  });
});
