import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sql, type Client } from '#client/index.ts';
import { createDeviceOn, type Device } from '#client/node/device.ts';
import { buildSchema } from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';
import { run as runCommand } from '#sync-server/cli.ts';
import { createSyncServer, type SyncServer } from '#sync-server/index.ts';
import { memoryMedium, type FileMedium } from '#vfs-opfs/index.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { until } from '#kit/until.ts';

const id = sampleColumn('id', 'text', { notNull: true });
const schema = buildSchema([
  sampleTable('tally', [id, sampleColumn('hits', 'integer', { notNull: true, defaultSql: '0' })], {
    merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [], documents: [] },
  }),
  sampleTable('seat', [id, sampleColumn('place', 'text')], { uniques: [['place']] }),
]);
const HIT = sql`UPDATE tally SET hits = hits + 1`;

let folder: string;
let server: SyncServer;
let http: Server;
let port: number;
const clients: Client[] = [];
const dataDir = (): string => join(folder, 'data');

async function startServer(): Promise<void> {
  server = createSyncServer({
    dataDir: dataDir(),
    schema,
    secret: 'a secret of tests only, 0123456789abcdef',
    log: () => undefined,
  });
  http = createServer();
  server.attach(http);
  await new Promise<void>((resolve) => void http.listen(port, '127.0.0.1', resolve));
  port = (http.address() as AddressInfo).port;
}

async function stopServer(): Promise<void> {
  await server.close();
  http.closeAllConnections();
  await new Promise<void>((resolve) => void http.close(() => resolve()));
}

beforeEach(async () => {
  folder = temporaryFolder();
  port = 0;
  await startServer();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await stopServer();
});

async function open(device: Device, before: () => Promise<void> = () => Promise.resolve()): Promise<Client> {
  const token = async (): Promise<string> => {
    await before();
    return (await server.issueToken({ principal: 'ann', databases: ['team'], ttlMs: 3_600_000 })) ?? '';
  };
  const client = await device.createClient({
    name: 'team',
    schema,
    sync: { url: `ws://127.0.0.1:${port}/sync`, databaseId: 'team', token },
  });
  clients.push(client);
  return client;
}

async function close(client: Client): Promise<void> {
  clients.splice(clients.indexOf(client), 1);
  await client.close();
}

/** A second profile with the files of the first, as if restored from a backup of the whole computer. */
async function copyOf(medium: FileMedium): Promise<FileMedium> {
  const copy = memoryMedium();
  for (const name of await medium.list()) {
    const bytes = new Uint8Array((await medium.sizeBytes(name)) ?? 0);
    (await medium.open(name, false))?.read(bytes, 0);
    (await copy.open(name, true))?.write(bytes, 0);
  }
  return copy;
}

function settled(client: Client): Promise<void> {
  return new Promise((resolve) => {
    client.status.subscribe(({ state, pendingCount }) => {
      if (state === 'up-to-date' && pendingCount === 0) resolve();
    });
  });
}

const hitsOf = async (client: Client): Promise<unknown> => (await client.query('SELECT hits FROM tally'))[0];

/** Reads the counter on a new device, which has what the server has. */
async function hitsOnServer(): Promise<unknown> {
  const client = await open(createDeviceOn(memoryMedium()));
  await settled(client);
  return hitsOf(client);
}

/** Adds to the counter in a transaction that the server rejects: another device has taken the seat meanwhile. */
async function rejectedHit(ann: Client): Promise<Client> {
  const ben = await open(createDeviceOn(memoryMedium()));
  await settled(ben);
  await ann.sync.pause();
  await ann.batch([HIT, sql`INSERT INTO seat VALUES ('ann', 'window')`]);
  await ben.execute(sql`INSERT INTO seat VALUES ('ben', 'window')`).synced;
  await ann.sync.resume();
  await settled(ann);
  expect(await ann.rejected.list()).toHaveLength(1);
  return ben;
}

async function retryAll(client: Client): Promise<void> {
  for (const { sequence } of await client.rejected.list()) await client.rejected.retry(sequence);
  await settled(client);
}

it('a rejected changeset that a device and a copy of its files both retry counts once [MR-49]', async () => {
  const medium = memoryMedium();
  const ann = await open(createDeviceOn(medium));
  await ann.execute(sql`INSERT INTO tally (id) VALUES ('visits')`).synced;
  const ben = await rejectedHit(ann);
  const copy = await open(createDeviceOn(await copyOf(medium)));
  await ben.execute(sql`DELETE FROM seat`).synced;
  for (const client of [ann, copy]) await client.sync.upToDate();
  await retryAll(ann);
  await retryAll(copy);
  await settled(ann);
  for (const client of [ann, copy]) expect(await hitsOf(client)).toEqual({ hits: 1 });
  expect(await hitsOnServer()).toEqual({ hits: 1 });
});

it('changesets that a device and a copy of its files both resend to a restored server count once [MR-49]', async () => {
  const medium = memoryMedium();
  const ann = await open(createDeviceOn(medium));
  await ann.execute(sql`INSERT INTO tally (id) VALUES ('visits')`).synced;
  const backup = join(folder, 'backup');
  expect(await runCommand(['backup', backup, '--data', dataDir()])).toBe(0);
  for (let hit = 0; hit < 3; hit++) await ann.execute(HIT).synced;
  await close(await rejectedHit(ann));
  const files = await copyOf(medium);
  // A dropped changeset must not be sent again, so this device continues under a new site id.
  for (const { sequence } of await ann.rejected.list()) await ann.rejected.drop(sequence);
  await settled(ann);
  await close(ann);
  await stopServer();
  rmSync(dataDir(), { recursive: true });
  expect(await runCommand(['restore', backup, '--data', dataDir()])).toBe(0);
  await startServer();
  const again = await open(createDeviceOn(medium));
  await settled(again);
  expect(await hitsOf(again)).toEqual({ hits: 3 });
  const copy = await open(createDeviceOn(files));
  await settled(copy);
  // The changeset that only the original dropped is admitted now: the seat is free in the restored database.
  expect(await hitsOf(copy)).toEqual({ hits: 4 });
  expect(await hitsOnServer()).toEqual({ hits: 4 });
});

it('a write between a new site id and its full resync replaces what the device wrote before, without a conflict', async () => {
  const medium = memoryMedium();
  const ann = await open(createDeviceOn(medium));
  await ann.execute(sql`INSERT INTO seat VALUES ('ann', 'window')`).synced;
  const backup = join(folder, 'backup');
  expect(await runCommand(['backup', backup, '--data', dataDir()])).toBe(0);
  await ann.execute(sql`UPDATE seat SET place = 'aisle'`).synced;
  await close(ann);
  const files = await copyOf(medium);
  await stopServer();
  rmSync(dataDir(), { recursive: true });
  expect(await runCommand(['restore', backup, '--data', dataDir()])).toBe(0);
  await startServer();
  // The copy sends the lost update as the same site, and a change of its own.
  const copy = await open(createDeviceOn(files));
  await copy.execute(sql`INSERT INTO tally (id) VALUES ('visits')`).synced;
  await settled(copy);
  let connections = 0;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const again = await open(createDeviceOn(medium), async () => {
    if (++connections > 1) await released;
  });
  // The first connection has ended with a new site id.
  await until(() => connections > 1);
  await again.execute(sql`UPDATE seat SET place = 'middle'`);
  release();
  await again.sync.upToDate();
  await copy.sync.upToDate();
  for (const client of [again, copy]) {
    expect(await client.query('SELECT place FROM seat')).toEqual([{ place: 'middle' }]);
    expect(await client.query('SELECT * FROM rockpool_conflict')).toEqual([]);
  }
});
