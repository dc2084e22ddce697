import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, askAdmin } from '../../testing/admin-client.ts';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { Devices } from '../session/devices.ts';
import type { DatabaseDetails } from './database-details.ts';
import type { DatabaseList } from './database-list.ts';
import type { DeviceState } from './device-states.ts';
import { TestSite } from '../../testing/test-client.ts';

const tested = serverUnderTest({ admin: { token: ADMIN_TOKEN } });
const list = async (query = ''): Promise<DatabaseList> =>
  (await askAdmin<DatabaseList>(tested.server, 'GET', `/databases${query}`)).body;
const details = async (): Promise<DatabaseDetails> =>
  (await askAdmin<DatabaseDetails>(tested.server, 'GET', `/databases/${DATABASE}`)).body;
const siteOf = ({ siteId }: TestSite): string => Buffer.from(siteId).toString('hex');

describe('the list of databases', () => {
  it('shows sizes, sessions, log positions, lag, members and blocked devices', async () => {
    const { server } = tested;
    const startedMs = Date.now();
    const ann = await server.open();
    const ben = await server.open(undefined, { principal: 'ben' });
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    await ben.delivery();
    ben.send({ type: 'confirm', cursor: 1, lastAckedSequence: 0 });
    await ben.roundTrip();
    await ann.commit([insert('accounts', 'b', { name: 'b' })]);
    await server.open(undefined, { databaseId: 'Other' });
    await server.sync.members.setRole(DATABASE, 'zoe', 'viewer');
    await server.sync.members.setRole(DATABASE, 'rex', null);
    const body = await list();
    expect(body).toMatchObject({
      server: { store: expect.stringMatching(/files|postgres/) as string, threads: expect.any(Number) as number },
      total: 2,
      next: null,
      databases: [
        { id: 'Other', state: 'online', sessions: 1, watermark: 0, lastWriteMs: null, lag: null, members: 0 },
        { id: DATABASE, state: 'online', sessions: 2, watermark: 2, lag: 1, members: 1, blockedDevices: 0 },
      ],
    });
    expect(body.databases[1]?.lastWriteMs).toBeGreaterThanOrEqual(startedMs - 1);
    if (body.server.store === 'files') expect(body.databases[1]?.sizeBytes).toBeGreaterThan(10_000);
  });

  it('is paged, and filtered by a part of the id', async () => {
    const { server } = tested;
    for (const databaseId of ['a1', 'a2', 'b1', 'b2']) await server.open(undefined, { databaseId });
    const ids = async (query: string): Promise<unknown> => {
      const body = await list(`?${query}`);
      return [body.databases.map(({ id }) => id), body.total, body.next];
    };
    expect(await ids('limit=3')).toEqual([['a1', 'a2', 'b1'], 4, 'b1']);
    expect(await ids('limit=3&after=b1')).toEqual([['b2'], 4, null]);
    expect(await ids('contains=2')).toEqual([['a2', 'b2'], 2, null]);
    for (const limit of ['0', '-1', 'x', '1001'])
      expect(await askAdmin(server, 'GET', `/databases?limit=${limit}`)).toMatchObject({
        status: 400,
        body: { code: 'request-invalid' },
      });
  });
});

describe('the inspection of one database', () => {
  it('shows its identity, rows, members, invitations and devices', async () => {
    const { server } = tested;
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' }), insert('accounts', 'b', { name: 'b' })]);
    await server.sync.members.setRole(DATABASE, 'rex', null);
    await server.sync.members.invite({ databaseId: DATABASE, role: 'viewer', expiresAtMs: Date.now() + 3_600_000 });
    const body = await details();
    expect(body).toMatchObject({
      id: DATABASE,
      state: 'online',
      outline: { watermark: 1, damage: null },
      summary: {
        identity: Buffer.from(ann.site.databaseIdentity as Uint8Array).toString('hex'),
        watermark: 1,
        sites: 1,
        rowsByTable: { accounts: 2 },
      },
      members: [{ principal: 'rex', role: null }],
      invitations: [{ role: 'viewer' }],
      devices: [{ site: siteOf(ann.site), principal: 'ann', state: 'online', canWrite: true, blockedBy: null }],
    });
    expect(body.devices[0]?.lastWriteMs).toBeLessThanOrEqual(Date.now());
    expect(await askAdmin(server, 'GET', '/databases/unknown')).toMatchObject({
      status: 404,
      body: { code: 'storage-missing' },
    });
    // An inspection of a missing database does not create it.
    expect((await list()).total).toBe(1);
  });

  it('names the problem of a blocked device until it syncs again', async () => {
    const { server } = tested;
    const old = new TestSite();
    const connection = await server.connect(old);
    connection.hello(await server.token('editor', 'ben'), DATABASE, { schemaHash: 'of-another-app' });
    await connection.failure();
    const leaving = await server.open();
    const left = leaving.site;
    await server.open(undefined, { principal: 'cyd' });
    await leaving.close();
    await server.logged('session-ended');
    const byPrincipal = async (principal: string): Promise<DeviceState | undefined> =>
      (await details()).devices.find((device) => device.principal === principal);
    expect(await byPrincipal('ben')).toMatchObject({
      site: siteOf(old),
      state: 'offline',
      lastSeenMs: expect.any(Number) as number,
      blockedBy: { code: 'schema-mismatch', recovery: 'upgrade', fields: {} },
    });
    expect(await byPrincipal('ann')).toMatchObject({ site: siteOf(left), state: 'offline', blockedBy: null });
    expect((await list()).databases[0]).toMatchObject({ blockedDevices: 1 });
    await server.open(old, { principal: 'ben' });
    expect(await byPrincipal('ben')).toMatchObject({ state: 'online', blockedBy: null });
    expect((await list()).databases[0]).toMatchObject({ blockedDevices: 0 });
  });

  it('shows no claims of a principal without access', async () => {
    const { server } = tested;
    await server.open();
    const stranger = await server.connect();
    stranger.hello(await server.token('editor', 'eve', 'elsewhere'), DATABASE);
    await stranger.failure();
    const body = await details();
    expect(body.devices.map(({ principal }) => principal)).toEqual(['ann']);
  });

  it('counts the changesets of a device that were rejected', async () => {
    const { server } = tested;
    const ann = await server.open();
    await ann.commit([insert('entries', 'e', { account: 'none' })]).catch(() => null);
    const body = await details();
    expect(body.devices[0]?.rejections).toEqual([
      { code: expect.any(String) as string, count: 1, lastMs: expect.any(Number) as number },
    ]);
  });
});

it('remembers the last sessions of 1,000 devices of a database, the newest', () => {
  const devices = new Devices();
  const end = (database: string, n: number): void =>
    devices.ended(database, { site: String(n), principal: 'eve', address: null, endedAtMs: n, error: null });
  end('other', 0);
  for (let n = 0; n < 1_002; n++) end(DATABASE, n);
  end(DATABASE, 2);
  const sites = devices.of(DATABASE).map(({ site }) => site);
  expect([sites.length, sites[0], sites.at(-1)]).toEqual([1_000, '3', '2']);
  expect(devices.of('other')).toHaveLength(1);
});

it('writes a line to the log for each request', async () => {
  const { server } = tested;
  await server.open();
  await askAdmin(server, 'GET', '/databases');
  await askAdmin(server, 'GET', `/databases/${DATABASE}`);
  await askAdmin(server, 'GET', '/databases/unknown');
  const lines = server.events.filter(({ event }) => event === 'admin-request').map(({ fields }) => fields);
  expect(lines).toEqual([
    { route: 'GET /databases', status: 200, databases: 1, address: null, durationMs: expect.any(Number) as number },
    expect.objectContaining({ route: 'GET /databases/:databaseId', database: DATABASE, status: 200 }),
    expect.objectContaining({ database: 'unknown', status: 404, code: 'storage-missing' }),
  ]);
  expect(JSON.stringify(server.events)).not.toContain(ADMIN_TOKEN);
});
