import { writeFileSync } from 'node:fs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { encodeSchema } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../tests/kit/free-port.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { ADMIN_TOKEN, askAdmin } from '../../testing/admin-client.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { DATABASE, TEST_SECRET } from '../../testing/test-server.ts';
import { readServeConfig } from '../cli/config.ts';
import { createSyncServer } from '../create-sync-server.ts';
import { serve } from '../serve.ts';
import { ADMIN_ROUTES } from './admin-app.ts';

/** The address of a route, with a real database id. */
function addressOf(path: string): string {
  return path.replace(':databaseId', DATABASE).replaceAll(/:\w+/g, 'ann');
}

describe('the admin API', () => {
  const tested = serverUnderTest({ admin: { token: ADMIN_TOKEN } });

  it.each(ADMIN_ROUTES)('requires its own token for $method $path', async ({ method, path }) => {
    const { server } = tested;
    await server.open();
    for (const token of [
      '',
      'x',
      `${ADMIN_TOKEN}x`,
      ADMIN_TOKEN.slice(1),
      TEST_SECRET,
      await server.token('owner'),
      await server.token('editor'),
    ])
      expect(await askAdmin(server, method, addressOf(path), { token }), token).toMatchObject({
        status: 401,
        body: { code: 'auth-token-invalid' },
      });
    expect((await server.ask(method, `/admin/api${addressOf(path)}`)).status).toBe(401);
    expect((await server.ask(method, `/admin/api${addressOf(path)}?token=${ADMIN_TOKEN}`)).status).toBe(401);
    const basic = { authorization: `Basic ${Buffer.from(`a:${ADMIN_TOKEN}`).toString('base64')}` };
    expect((await server.ask(method, `/admin/api${addressOf(path)}`, { headers: basic })).status).toBe(401);
    // The refused request changed nothing.
    expect((await askAdmin(server, 'GET', '/databases')).body).toMatchObject({
      databases: [{ id: DATABASE, state: 'online' }],
    });
    expect(server.events.filter(({ event }) => event === 'admin-request')).toHaveLength(1);
    expect(server.events.find(({ event }) => event === 'admin-refused')?.fields).toMatchObject({
      method,
      code: 'auth-token-invalid',
      address: null,
    });
  });

  it('does not reveal routes or databases without the token', async () => {
    const { server } = tested;
    for (const path of ['/databases/missing', '/nothing', '/databases/..%2f..%2fetc'])
      expect((await server.ask('GET', `/admin/api${path}`)).status).toBe(401);
  });

  it('rejects pages of other origins, even with the token', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, origin: 'https://evil.example' };
    const response = await tested.server.ask('GET', '/admin/api/databases', { headers });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    const own = { authorization: `Bearer ${ADMIN_TOKEN}`, origin: `http://${tested.server.host}` };
    expect((await tested.server.ask('GET', '/admin/api/databases', { headers: own })).status).toBe(200);
  });

  it('responds to any other method with the methods that the path allows', async () => {
    const response = await tested.server.ask('PATCH', '/admin/api/databases', { token: ADMIN_TOKEN });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    expect(
      (await tested.server.ask('TRACE', '/admin/api/nothing', { token: ADMIN_TOKEN }).catch(() => null)) ?? null,
    ).toBe(null);
    expect((await askAdmin(tested.server, 'GET', '/nothing')).status).toBe(404);
  });

  it.each(['..%2f..%2fmembers', '..%5c..', '%2e%2e', 'a%2fb', 'a.sqlite', 'x'.repeat(65), '*', 'a%00b', 'ä'])(
    'does not accept a path as a database id: %s',
    async (id) => {
      for (const { method, path } of ADMIN_ROUTES) {
        if (!path.includes(':databaseId')) continue;
        const { status } = await askAdmin(tested.server, method, path.replace(':databaseId', id), {
          ...(method === 'GET' ? {} : { body: {} }),
        });
        // A client resolves a dot segment before it sends the path, so the request is for a different path.
        expect([400, 404, 405], `${method} ${path}`).toContain(status);
      }
      expect(JSON.stringify(tested.server.events)).not.toContain(decodeURIComponent(id).slice(0, 65) + '"');
    },
  );

  it('forbids framing, foreign scripts and caching', async () => {
    const { headers } = await tested.server.ask('GET', '/admin/api/databases', { token: ADMIN_TOKEN });
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect([headers.get('x-frame-options'), headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      'DENY',
      'no-store',
      'no-referrer',
    ]);
  });
});

describe('a server without the option adminToken', () => {
  const tested = serverUnderTest();

  it('has no admin API', async () => {
    expect(tested.server.sync.admin).toBe(null);
    expect((await tested.server.ask('GET', '/admin/api/databases', { token: ADMIN_TOKEN })).status).toBe(404);
    expect((await tested.server.ask('GET', '/admin')).status).toBe(404);
  });

  it('rejects a short admin token', () => {
    expect(() =>
      createSyncServer({
        dataDir: temporaryFolder(),
        schema: TEST_SCHEMA,
        secret: TEST_SECRET,
        admin: { token: 'x'.repeat(31) },
      }),
    ).toThrow(/the token of the admin API needs at least 32 characters/);
  });
});

describe('the command rockpool-server', () => {
  const config = (...flags: readonly string[]): ReturnType<typeof readServeConfig> => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'schema.json'), encodeSchema(TEST_SCHEMA));
    writeFileSync(join(folder, 'admin-token'), `${ADMIN_TOKEN}\n`);
    const base = ['--data', join(folder, 'data'), '--schema', join(folder, 'schema.json'), '--port', '0'];
    return readServeConfig({
      flags: [...base, '--threads', '1', ...flags.map((flag) => flag.replace('TOKEN', join(folder, 'admin-token')))],
      environment: { ROCKPOOL_SECRET: TEST_SECRET },
    });
  };
  const statusOf = async (url: string): Promise<number> =>
    (await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })).status;

  it('serves the admin API on the main port, or only on an address of its own', async () => {
    const off = await serve({ ...config(), log: () => undefined } as never);
    expect([off.adminUrl, await statusOf(`${off.url}/admin/api/databases`)]).toEqual([null, 404]);
    await off.stop();
    const main = await serve({ ...config('--admin-token-file', 'TOKEN'), log: () => undefined } as never);
    expect(main.adminUrl).toBe(`${main.url}/admin`);
    expect(await statusOf(`${main.url}/admin/api/databases`)).toBe(200);
    await main.stop();
    const flags = ['--admin-token-file', 'TOKEN', '--admin-address', '127.0.0.1:0'];
    const own = await serve({ ...config(...flags), log: () => undefined } as never);
    expect(await statusOf(`${own.adminUrl}/api/databases`)).toBe(200);
    expect(await statusOf(`${own.url}/admin/api/databases`)).toBe(404);
    expect(await statusOf(`${own.adminUrl?.replace('/admin', '')}/health`)).toBe(404);
    await own.stop();
    await expect(fetch(own.adminUrl as string)).rejects.toThrow();
  });

  it('lets a request to an admin address of its own take any time, for example a large import', async () => {
    const servers: Server[] = [];
    const onRequest = (message: unknown): void => void servers.push((message as { readonly server: Server }).server);
    subscribe('http.server.request.start', onRequest);
    const flags = ['--admin-token-file', 'TOKEN', '--admin-address', '127.0.0.1:0'];
    const own = await serve({ ...config(...flags), log: () => undefined } as never);
    expect(await statusOf(`${own.adminUrl}/api/databases`)).toBe(200);
    unsubscribe('http.server.request.start', onRequest);
    expect(servers.map(({ requestTimeout }) => requestTimeout)).toEqual([0]);
    await own.stop();
  });

  it('releases its data directory and its main port if it cannot listen on another address', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => void taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const inUse = `127.0.0.1:${port}`;
    for (const flags of [
      ['--metrics-address', inUse],
      ['--admin-token-file', 'TOKEN', '--admin-address', inUse],
      ['--metrics-address', '127.0.0.1:0', '--admin-token-file', 'TOKEN', '--admin-address', inUse],
    ]) {
      const own = { ...config(...flags), port: await freePort(), log: () => undefined };
      await expect(serve(own as never)).rejects.toMatchObject({ code: 'config-invalid' });
      const address = { host: '127.0.0.1', port: 0 };
      const again = await serve({ ...own, metricsAddress: address, adminAddress: address } as never);
      expect(await statusOf(`${again.url}/health`)).toBe(200);
      await again.stop();
    }
    const own = { ...config(), log: () => undefined };
    await expect(serve({ ...own, port } as never)).rejects.toMatchObject({ code: 'config-invalid' });
    await (await serve(own as never)).stop();
    taken.close();
  });

  it('requires the token for an address, and rejects a short token', () => {
    expect(() => config('--admin-address', '127.0.0.1:9500')).toThrow(/--admin-address needs --admin-token-file/);
    const file = join(temporaryFolder(), 'short');
    writeFileSync(file, 'x'.repeat(31));
    expect(() => config('--admin-token-file', file)).toThrow(/--admin-token-file: .* at least 32 characters/);
  });
});
