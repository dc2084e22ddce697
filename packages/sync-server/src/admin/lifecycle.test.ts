import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure } from '@rockpool/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../tests/kit/until.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { ADMIN_TOKEN, askAdmin, type AdminAnswer } from '../../testing/admin-client.ts';
import { insert } from '../../testing/changeset.ts';
import { deliveredRows } from '../../testing/delivered-rows.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { DATABASE, type TestServer } from '../../testing/test-server.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { beginFileChange } from '../store/file-change.ts';
import type { DatabaseDetails } from './database-details.ts';
import type { DatabaseList, ListedDatabase } from './database-list.ts';

const MAX_IMPORT_BYTES = 8 * 1024 * 1024;
const tested = serverUnderTest({
  admin: { token: ADMIN_TOKEN, maxImportBytes: MAX_IMPORT_BYTES },
  snapshots: { minFileBytes: 1 },
});

let server: TestServer;
/** A session in another database, which must not be affected. */
let bystander: TestConnection;
let commits = 0;
beforeEach(async () => {
  ({ server } = tested);
  bystander = await server.open(undefined, { databaseId: 'bystander', principal: 'bob' });
});

async function bystanderCommits(): Promise<void> {
  const key = `b${commits++}`;
  expect(await bystander.commit([insert('accounts', key, { name: key })])).toMatchObject({ kind: 'admitted' });
}

const admin = <Body = unknown>(method: string, path: string, body?: unknown): Promise<AdminAnswer<Body>> =>
  askAdmin<Body>(server, method, path, { body });
const listed = async (id: string): Promise<ListedDatabase | undefined> =>
  (await admin<DatabaseList>('GET', '/databases')).body.databases.find((database) => database.id === id);
const isOnPostgres = async (): Promise<boolean> =>
  (await admin<DatabaseList>('GET', '/databases')).body.server.store === 'postgres';

/** The error of a hello. */
async function refusal(site?: TestSite): Promise<Failure> {
  const connection = await server.connect(site);
  connection.hello(await server.token(), DATABASE);
  return connection.failure();
}

async function exported(id: string = DATABASE): Promise<Uint8Array> {
  const response = await server.ask('GET', `/admin/api/databases/${id}/export`, { token: ADMIN_TOKEN });
  expect(response.status).toBe(200);
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(response.headers.get('rockpool-sha256')).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${id}.sqlite"`);
  return bytes;
}

function idsIn(bytes: Uint8Array): unknown[] {
  const path = join(temporaryFolder(), 'copy.sqlite');
  writeFileSync(path, bytes);
  const sql = new SqliteFile(path, { readOnly: true });
  try {
    return sql.all('SELECT id FROM accounts ORDER BY id').map(([id]) => id);
  } finally {
    sql.close();
  }
}

/** The keys that a new device receives. */
async function keysIn(id: string = DATABASE): Promise<string[]> {
  const connection = await server.connect();
  const { first } = await connection.open(await server.token('viewer', 'reader', id), id);
  await connection.close();
  return deliveredRows(first, 'accounts')
    .map(({ key }) => String(key[0]))
    .sort((a, b) => (a < b ? -1 : 1));
}

/** Commits one row after the other, with reconnects, until `done`. Returns the keys that were acknowledged. */
async function writeUntil(
  done: Promise<unknown>,
  site = new TestSite(),
  acknowledged: string[] = [],
): Promise<string[]> {
  let isDone = false;
  void done.finally(() => (isDone = true));
  while (!isDone) {
    try {
      const connection = await server.connect(site);
      await connection.open(await server.token(), DATABASE);
      // A changeset that was decided while the last session ended is acknowledged by the welcome.
      for (let n = acknowledged.length; n < site.lastAckedSequence; n++) acknowledged.push(`w${n}`);
      if (site.changelog.length > acknowledged.length) {
        connection.push();
        await connection.decided(site.changelog.length);
        acknowledged.push(`w${acknowledged.length}`);
      }
      while (!isDone) {
        const key = `w${acknowledged.length}`;
        const outcome = await connection.commit([insert('accounts', key, { name: key })]);
        expect(outcome.kind).toBe('admitted');
        acknowledged.push(key);
      }
      await connection.close();
    } catch (error) {
      const { message } = error as Error;
      if (message.includes('database-mismatch')) return acknowledged;
      if (!message.includes('database-unavailable')) throw error;
    }
  }
  return acknowledged;
}

describe('closing a database', () => {
  it('ends its sessions with a retryable reason, and does not affect other databases', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    expect(await admin('POST', `/databases/${DATABASE}/close`)).toMatchObject({ status: 200, body: { sessions: 1 } });
    expect(await ann.failure()).toMatchObject({
      code: 'database-unavailable',
      fields: { problem: 'the operator closed the database; it reopens at once' },
    });
    await bystanderCommits();
    expect(bystander.closed).toBe(null);
    const again = await server.open(ann.site);
    expect(await again.commit([insert('accounts', 'b', { name: 'b' })])).toMatchObject({ kind: 'admitted' });
    expect(await keysIn()).toEqual(['a', 'b']);
    expect(server.events).toContainEqual({
      event: 'admin-request',
      fields: expect.objectContaining({ did: 'closed', database: DATABASE, sessions: 1, status: 200 }) as unknown,
    });
    expect((await admin('POST', '/databases/unknown/close')).status).toBe(404);
  });

  it('decides and acknowledges pending pushes before it ends the sessions', async () => {
    const ann = await server.open();
    for (const key of ['a', 'b', 'c']) ann.site.write([insert('accounts', key, { name: key })]);
    ann.push();
    await ann.roundTrip();
    await admin('POST', `/databases/${DATABASE}/close`);
    expect((await ann.decided(3)).lastAckedSequence).toBe(3);
    expect(await keysIn()).toEqual(['a', 'b', 'c']);
  });

  it('ends sessions that receive no deliveries: of a client that downloads a snapshot, or uses the site of another', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    const downloading = await server.connect();
    downloading.hello(await server.token('viewer', 'cyd'), DATABASE, { snapshot: 'accepted' });
    expect(await downloading.next('welcome')).toMatchObject({ takeSnapshot: true });
    const foreign = await server.connect(new TestSite(ann.site.siteId));
    foreign.hello(await server.token('viewer', 'eve'), DATABASE);
    await foreign.next('welcome');
    await admin('POST', `/databases/${DATABASE}/close`);
    for (const connection of [downloading, foreign])
      expect(await connection.failure()).toMatchObject({ code: 'database-unavailable' });
  });

  it('loses no acknowledged change and decides none twice while a device keeps writing', async () => {
    await server.open();
    const acknowledged: string[] = [];
    const closing = (async () => {
      for (let i = 0; i < 10; i++) {
        await until(() => acknowledged.length > i);
        expect((await admin('POST', `/databases/${DATABASE}/close`)).status).toBe(200);
        await bystanderCommits();
      }
    })();
    await writeUntil(closing, new TestSite(), acknowledged);
    await closing;
    const keys = await keysIn();
    expect(keys).toEqual(expect.arrayContaining(acknowledged));
    expect(new Set(keys).size).toBe(keys.length);
    expect((await listed(DATABASE))?.watermark).toBe(keys.length);
  });
});

describe('draining a database', () => {
  it('keeps clients out until the database is opened', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    expect((await admin('POST', `/databases/${DATABASE}/drain`)).status).toBe(200);
    expect(await ann.failure()).toMatchObject({ code: 'database-unavailable' });
    expect(await refusal(ann.site)).toMatchObject({
      code: 'database-unavailable',
      fields: { problem: 'the operator took the database offline for maintenance' },
    });
    await bystanderCommits();
    expect(await listed(DATABASE)).toMatchObject({ state: 'draining', sessions: 0, watermark: 1, blockedDevices: 1 });
    expect((await admin<DatabaseDetails>('GET', `/databases/${DATABASE}`)).body).toMatchObject({
      state: 'draining',
      devices: [{ principal: 'ann', blockedBy: { code: 'database-unavailable', recovery: 'retry' } }],
    });
    // Other operations leave the database drained.
    expect(idsIn(await exported())).toEqual(['a']);
    await admin('POST', `/databases/${DATABASE}/close`);
    expect(await listed(DATABASE)).toMatchObject({ state: 'draining' });
    expect(await refusal()).toMatchObject({ code: 'database-unavailable' });
    expect((await admin('POST', `/databases/${DATABASE}/open`)).status).toBe(204);
    expect((await admin('POST', `/databases/${DATABASE}/open`)).status).toBe(409);
    expect((await server.open(ann.site)).site.cursor).toBe(1);
    expect(await listed(DATABASE)).toMatchObject({ state: 'online', sessions: 1 });
  });
});

describe('creating a database', () => {
  it('makes an empty database that clients can use', async () => {
    expect((await admin('PUT', '/databases/New')).status).toBe(201);
    expect(await listed('New')).toMatchObject({ state: 'online', watermark: 0 });
    const ann = await server.open(undefined, { databaseId: 'New' });
    expect(await ann.commit([insert('accounts', 'a', { name: 'a' })])).toMatchObject({ kind: 'admitted' });
    expect(await admin('PUT', '/databases/New')).toMatchObject({
      status: 409,
      body: { code: 'request-invalid', fields: { problem: 'a database with this id already exists' } },
    });
    expect(await keysIn('New')).toEqual(['a']);
  });
});

describe('exporting a database', () => {
  it('returns a file with every earlier acknowledged change, while a device writes', async () => {
    await server.open();
    const site = new TestSite();
    const exporting = (async () => {
      const copies: { readonly before: number; readonly bytes: Uint8Array }[] = [];
      for (let i = 0; i < 5 || site.lastAckedSequence === 0; i++) {
        const before = site.lastAckedSequence;
        copies.push({ before, bytes: await exported() });
      }
      return copies;
    })();
    const acknowledged = await writeUntil(exporting, site);
    for (const { before, bytes } of await exporting)
      expect(idsIn(bytes)).toEqual(expect.arrayContaining(acknowledged.slice(0, before)));
    expect(acknowledged.length).toBeGreaterThan(0);
    await bystanderCommits();
    // Copies are removed once they are sent.
    await expect.poll(() => readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
    expect((await admin('GET', '/databases/unknown/export')).status).toBe(404);
  });

  it('leaves no copy behind after a HEAD request', async () => {
    await server.open();
    const response = await server.ask('HEAD', `/admin/api/databases/${DATABASE}/export`, { token: ADMIN_TOKEN });
    expect([response.status, Number(response.headers.get('content-length')) > 0]).toEqual([200, true]);
    await expect.poll(() => readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });
});

describe('deleting a database', () => {
  it('requires the id or the identity as confirmation', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    for (const confirm of ['', '?confirm=', '?confirm=household2', `?confirm=${'0'.repeat(32)}`])
      expect(await admin('DELETE', `/databases/${DATABASE}${confirm}`)).toMatchObject({
        status: 400,
        body: {
          code: 'request-invalid',
          fields: { problem: '`confirm` must be the id or the identity of the database' },
        },
      });
    expect(ann.closed).toBe(null);
    const identity = Buffer.from(ann.site.databaseIdentity as Uint8Array).toString('hex');
    expect(await admin('DELETE', `/databases/${DATABASE}?confirm=${identity}`)).toMatchObject({
      status: 200,
      body: { watermark: 1 },
    });
    expect(await ann.failure()).toMatchObject({ code: 'database-unavailable' });
    expect(await listed(DATABASE)).toBe(undefined);
    expect((await admin('DELETE', `/databases/${DATABASE}?confirm=${DATABASE}`)).status).toBe(404);
    await bystanderCommits();
  });

  it('removes its members, invitations and devices, and a new database is not mistaken for it', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    await server.sync.members.setRole(DATABASE, 'zoe', 'owner');
    await server.sync.members.invite({ databaseId: DATABASE, role: 'viewer', expiresAtMs: Date.now() + 3_600_000 });
    const zoe = await server.connect();
    await zoe.open(await server.token('viewer', 'zoe', 'elsewhere'), DATABASE);
    await admin('DELETE', `/databases/${DATABASE}?confirm=${DATABASE}`);
    await server.open(undefined, { principal: 'new' });
    const { devices } = (await admin<DatabaseDetails>('GET', `/databases/${DATABASE}`)).body;
    expect(devices.map(({ principal }) => principal)).toEqual(['new']);
    const again = await server.connect(zoe.site);
    again.hello(await server.token('viewer', 'zoe', 'elsewhere'), DATABASE);
    expect(await again.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    expect(await server.sync.members.invitations(DATABASE)).toEqual([]);
    expect(await refusal(ann.site)).toMatchObject({ code: 'database-mismatch' });
    expect(await keysIn()).toEqual([]);
  });

  it('removes its snapshot', async () => {
    const snapshots = (): string[] =>
      readdirSync(join(server.dataDir, 'snapshots'), { encoding: 'utf8', recursive: true }).filter((name) =>
        name.includes(`db-${DATABASE}.`),
      );
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    const token = await server.token();
    const downloaded = await server.ask('GET', `/databases/${DATABASE}/snapshot?schema=${TEST_SCHEMA.hash}`, { token });
    expect([downloaded.status, snapshots()]).toEqual([200, [expect.any(String)]]);
    await downloaded.arrayBuffer();
    await admin('DELETE', `/databases/${DATABASE}?confirm=${DATABASE}`);
    expect(snapshots()).toEqual([]);
  });

  it('also deletes a drained one, and clients can create a new one with its id', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    await admin('POST', `/databases/${DATABASE}/drain`);
    expect((await admin('DELETE', `/databases/${DATABASE}?confirm=${DATABASE}`)).status).toBe(200);
    await server.open();
    expect(await listed(DATABASE)).toMatchObject({ state: 'online', watermark: 0 });
  });

  it('that has failed half-way keeps clients out until it is finished by the next operation', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    if (await isOnPostgres()) return;
    await admin('POST', `/databases/${DATABASE}/drain`);
    beginFileChange(server.dataDir, DATABASE, { kind: 'delete', deletedMs: 0 });
    await admin('POST', `/databases/${DATABASE}/open`);
    expect(await refusal(ann.site)).toMatchObject({ code: 'database-unavailable' });
    expect((await admin('POST', `/databases/${DATABASE}/close`)).status).toBe(404);
    await server.open();
    expect(await keysIn()).toEqual([]);
  });

  it('keeps changes that are acknowledged after the delete, while a device writes', async () => {
    const before = await server.open();
    await before.commit([insert('accounts', 'before', { name: 'before' })]);
    const device = await server.open();
    await device.close();
    const deleting = admin('DELETE', `/databases/${DATABASE}?confirm=${DATABASE}`);
    // The device knows the identity of the database, so it does not write to the next one.
    await writeUntil(deleting, device.site);
    expect((await deleting).status).toBe(200);
    const fresh = await server.open();
    await fresh.commit([insert('accounts', 'after', { name: 'after' })]);
    expect(await keysIn()).toEqual(['after']);
    await bystanderCommits();
  });
});

describe('importing a database', () => {
  it('restores an exported database with its identity, and its devices continue', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    const copy = await exported();
    await ann.commit([insert('accounts', 'b', { name: 'b' })]);
    await admin('DELETE', `/databases/${DATABASE}?confirm=${DATABASE}`);
    expect(await admin('POST', `/databases/${DATABASE}/import`, copy)).toMatchObject({
      status: 201,
      body: { sizeBytes: copy.length },
    });
    const back = await server.connect(ann.site);
    back.hello(await server.token(), DATABASE);
    // The device resends what the copy lacks.
    expect(await back.next('welcome')).toMatchObject({ fullResync: true, lastAckedSequence: 1, watermark: 1 });
    await bystanderCommits();
    expect((await admin('POST', '/databases/Copy/import', copy)).status).toBe(201);
    expect(await keysIn('Copy')).toEqual(['a']);
    await expect.poll(() => readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });

  it('never replaces a database, not even one that a client creates during the import', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    const copy = await exported();
    expect((await admin('POST', `/databases/${DATABASE}/import`, copy)).status).toBe(409);
    expect(ann.closed === null || ann.closed.reason === 'database-unavailable').toBe(true);
    await admin('DELETE', `/databases/${DATABASE}?confirm=${DATABASE}`);
    const importing = admin('POST', `/databases/${DATABASE}/import`, copy);
    const acknowledged = await writeUntil(importing);
    const { status } = await importing;
    expect([201, 409]).toContain(status);
    const keys = await keysIn();
    expect(keys).toEqual(expect.arrayContaining(acknowledged));
    expect(keys.includes('a')).toBe(status === 201);
  });

  it.each([
    ['nothing', new Uint8Array(0), 400, 'request-invalid'],
    [
      'noise',
      new TextEncoder().encode('not a database, but long enough to be looked at. '.repeat(99)),
      400,
      'request-invalid',
    ],
    ['more than the limit', new Uint8Array(MAX_IMPORT_BYTES + 1), 413, 'frame-too-large'],
  ])('refuses %s, and leaves nothing behind', async (_, body, status, code) => {
    expect(await admin('POST', '/databases/New/import', body)).toMatchObject({ status, body: { code } });
    expect(await listed('New')).toBe(undefined);
    await expect.poll(() => readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
    // A client can create a database with this id.
    await server.open(undefined, { databaseId: 'New' });
  });

  it('rejects a SQLite file that another program wrote', async () => {
    const path = join(temporaryFolder(), 'other.sqlite');
    const sql = new SqliteFile(path, { hasChecksums: false });
    sql.exec('PRAGMA journal_mode = DELETE; CREATE TABLE t (a)');
    sql.close();
    expect(await admin('POST', '/databases/New/import', new Uint8Array(readFileSync(path)))).toMatchObject({
      status: 400,
      body: { code: 'request-invalid', fields: { problem: 'the body is not a Rockpool database' } },
    });
  });
});

describe('replacing a database', () => {
  it('keeps its members and the old file, and requires a confirmation', async () => {
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    const copy = await exported();
    await ann.commit([insert('accounts', 'b', { name: 'b' })]);
    await server.sync.members.setRole(DATABASE, 'zoe', 'owner');
    if (await isOnPostgres()) {
      expect((await admin('POST', `/databases/${DATABASE}/replace?confirm=${DATABASE}`, copy)).status).toBe(409);
      return;
    }
    expect((await admin('POST', `/databases/${DATABASE}/replace`, copy)).status).toBe(400);
    expect(ann.closed).toBe(null);
    expect(await admin('POST', `/databases/${DATABASE}/replace?confirm=${DATABASE}`, copy)).toMatchObject({
      status: 200,
      body: { kept: `db-${DATABASE}.sqlite.replaced-1` },
    });
    const { devices } = (await admin<DatabaseDetails>('GET', `/databases/${DATABASE}`)).body;
    expect(devices).toMatchObject([{ principal: 'ann', lastSeenMs: null, blockedBy: null }]);
    expect(await keysIn()).toEqual(['a']);
    expect(server.sync.members.list(DATABASE)).toEqual([{ principal: 'zoe', role: 'owner' }]);
    expect(existsSync(join(server.dataDir, 'databases', `db-${DATABASE}.sqlite.replaced-1`))).toBe(true);
    await bystanderCommits();
  });
});

describe('members', () => {
  it('are revoked immediately, in one database and everywhere', async () => {
    const ann = await server.open();
    const ben = await server.open(undefined, { principal: 'ben' });
    expect((await admin('DELETE', `/databases/${DATABASE}/members/ann`)).status).toBe(204);
    expect(await ann.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    expect((await admin('PUT', `/databases/${DATABASE}/members/ann`, { role: 'viewer' })).status).toBe(204);
    await server.open(ann.site);
    expect((await admin('PUT', '/revoked/ben')).status).toBe(204);
    expect(await ben.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    expect((await admin('DELETE', '/revoked/ben')).status).toBe(204);
    await server.open(ben.site, { principal: 'ben' });
    expect(server.events).toContainEqual({
      event: 'admin-request',
      fields: expect.objectContaining({ did: 'member-revoked', database: DATABASE, member: 'ann' }) as unknown,
    });
  });

  it('have invitations that an operator can withdraw', async () => {
    const code = await server.sync.members.invite({
      databaseId: DATABASE,
      role: 'viewer',
      expiresAtMs: Date.now() + 3_600_000,
    });
    const [invitation] = await server.sync.members.invitations(DATABASE);
    expect((await admin('DELETE', `/databases/other/invitations/${invitation?.id}`)).status).toBe(404);
    expect((await admin('DELETE', `/databases/${DATABASE}/invitations/${invitation?.id}`)).status).toBe(204);
    expect(await server.sync.members.invitations(DATABASE)).toEqual([]);
    expect(JSON.stringify(server.events)).not.toContain(code);
  });

  it.each([
    ['not JSON', 'x', 400],
    ['an unknown role', { role: 'king' }, 400],
    ['more than 4 KiB', { role: 'x'.repeat(5_000) }, 413],
  ])('reject a body that is %s', async (_, body, status) => {
    const bytes = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
    expect((await admin('PUT', `/databases/${DATABASE}/members/ann`, bytes)).status).toBe(status);
    expect(server.sync.members.list(DATABASE)).toEqual([]);
  });
});
