import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { ROUTES } from './assembly/create-app.ts';
import { createSyncServer } from './create-sync-server.ts';
import type { Role } from './auth/role.ts';
import { SESSION_LIMITS } from './session/limits.ts';
import type { SyncServer, SyncServerOptions } from './sync-server.ts';
import { insert } from '../testing/changeset.ts';
import { TestConnection } from '../testing/test-client.ts';
import { TEST_SCHEMA } from '../testing/test-schema.ts';
import { DATABASE, TEST_SECRET } from '../testing/test-server.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

let folder: string;
let sync: SyncServer;
let http: Server;
let host: string;
beforeEach(async () => {
  folder = temporaryFolder();
  sync = createSyncServer({ dataDir: folder, schema: TEST_SCHEMA, secret: TEST_SECRET, log: () => undefined });
  const app = new Hono();
  app.get('/', (context) => context.text('the app'));
  app.route('/sync', sync.app);
  http = createAdaptorServer({ fetch: app.fetch }) as Server;
  sync.attach(http, '/sync');
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(http.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await sync.close();
  http.closeAllConnections();
  http.close();
});

describe('the options of a server', () => {
  const postgres = 'postgresql://host/name';
  it.each<[Partial<SyncServerOptions>, string]>([
    [{ nats: { servers: ['nats://a'] } }, 'nats needs postgres'],
    [{ postgres, nats: { servers: [] } }, 'servers must not be empty'],
    [{ postgres, backup: { to: '/backup' } }, 'backup copies files'],
    [{ backup: { to: '/backup', intervalMs: 0 } }, 'backup.intervalMs must be from 1 ms to a day'],
    [{ backup: { to: '/backup', intervalMs: 2 ** 31 } }, 'backup.intervalMs must be from 1 ms to a day'],
    [{ backup: { to: '/backup', unloadAfterMs: 0 } }, 'backup.unloadAfterMs must be at least 1'],
    [{ backup: { to: '/backup', keepMs: 59_999 } }, 'backup.keepMs must be at least a minute'],
    [{ threads: 1.5 }, 'threads must be a whole number'],
    [{ historyRole: 'king' as Role }, 'historyRole must be'],
    [{ trustedProxies: ['10.0.0.0/40'] }, '10.0.0.0/40 is neither an IP address nor a network'],
    [{ keySet: 'https://id.example.org/keys' as never }, 'keySet must be a JWKS or a URL'],
    [{ keySet: {} as never }, 'keySet must be a JWKS or a URL'],
    [{ oidcIssuer: 'id.example.org' }, 'oidcIssuer must be the URL of an issuer'],
    [{ keySet: new URL('localhost:80/keys') }, 'keySet must be a JWKS or a URL'],
    [{ instanceUrl: '10.0.0.4' }, 'instanceUrl must be a URL'],
    [{ instanceUrl: 'localhost:4400/sync' }, 'instanceUrl must be a URL'],
    [{ oidcIssuer: 'localhost:80' }, 'oidcIssuer must be the URL of an issuer'],
    [{ admin: { token: undefined as never } }, 'the token of the admin API needs'],
    [{ metrics: { token: undefined as never } }, 'the token of metrics needs'],
    [{ quotas: { maxDatabaseBytes: NaN } }, 'quotas.maxDatabaseBytes must be a number'],
    [{ limits: { maxSockets: '100' as never } }, 'limits.maxSockets must be a number'],
    [{ retention: { tombstonesMs: -1 } }, 'retention.tombstonesMs must be a number of at least 0'],
    [{ deliveryPartBytes: NaN }, 'deliveryPartBytes must be a number'],
  ])('are refused if they are invalid: %j', (options, problem) => {
    const valid = { dataDir: temporaryFolder(), schema: TEST_SCHEMA, secret: TEST_SECRET, log: () => undefined };
    expect(() => createSyncServer({ ...valid, ...options })).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        fields: { count: 1, problems: expect.stringContaining(problem) as string },
      }) as Error,
    );
  });
});

it('a limit that is undefined keeps its default', async () => {
  const dataDir = temporaryFolder();
  const limits = { maxUnauthenticated: undefined } as never;
  const server = createSyncServer({ dataDir, schema: TEST_SCHEMA, secret: TEST_SECRET, log: () => undefined, limits });
  const ended: string[] = [];
  const client = { receive: () => undefined, closed: (_code: number, reason: string) => void ended.push(reason) };
  for (let i = 0; i <= SESSION_LIMITS.maxUnauthenticated; i++) server.connect(client);
  await expect.poll(() => ended).toEqual(['too-many-connections']);
  await server.close();
});

describe('a server mounted in another app', () => {
  it('runs alongside the app’s own routes and sockets', async () => {
    expect(await (await fetch(`http://${host}/`)).text()).toBe('the app');
    expect(await (await fetch(`http://${host}/sync/health`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`http://${host}/health`)).status).toBe(404);
    const connection = await TestConnection.connect(`ws://${host}/sync`);
    await connection.open(
      await sync.issueToken({ principal: 'ann', databases: [DATABASE], ttlMs: 3_600_000 }),
      DATABASE,
    );
    expect(await connection.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
    await connection.close();
  });

  it.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'guards %s like a standalone server',
    async (_, { method, path, access }) => {
      const ask = async (headers: Record<string, string>): Promise<number> => {
        const response = await fetch(
          `http://${host}/sync${path.replace(':databaseId', DATABASE).replace(/:\w+/, 'x')}`,
          { method, headers },
        );
        await response.body?.cancel();
        return response.status;
      };
      const stranger = await sync.issueToken({ principal: 'eve', databases: ['elsewhere'], ttlMs: 3_600_000 });
      expect(await ask({ origin: 'https://evil.test' })).toBe(403);
      if (access === 'public') return;
      expect(await ask({})).toBe(401);
      expect(await ask({ authorization: 'Bearer x.y.z' })).toBe(401);
      if (access !== 'principal') expect(await ask({ authorization: `Bearer ${stranger}` })).toBe(403);
    },
  );

  it('refuses sockets of other paths, unless the app has its own', async () => {
    await expect(TestConnection.connect(`ws://${host}/chat`)).rejects.toThrow('404');
    const chat = new WebSocketServer({ noServer: true });
    http.on('upgrade', (request, socket, head) => {
      if (request.url === '/chat')
        chat.handleUpgrade(request, socket, head, (webSocket) => webSocket.close(1000, 'bye'));
    });
    expect(await (await TestConnection.connect(`ws://${host}/chat`)).closes()).toMatchObject({ reason: 'bye' });
    chat.close();
  });

  it('accepts no socket once it is stopped, while the app runs on', async () => {
    await sync.close();
    expect(await (await fetch(`http://${host}/`)).text()).toBe('the app');
    await expect(TestConnection.connect(`ws://${host}/sync`)).rejects.toThrow();
  });

  it('begins no session while it stops, over HTTP or in the process', async () => {
    const stopped = sync.close();
    const refused = { code: 'database-unavailable', fields: { problem: 'the server is stopping' } };
    const client = { receive: () => undefined, closed: () => undefined };
    expect(() => sync.connect(client)).toThrow(expect.objectContaining(refused) as Error);
    const response = await sync.app.request('/sessions', { method: 'POST' });
    expect([response.status, await response.json()]).toEqual([503, expect.objectContaining(refused)]);
    await stopped;
  });

  it('refuses a socket of a page from another origin', async () => {
    await expect(
      TestConnection.connect(`ws://${host}/sync`, undefined, { origin: 'https://evil.test' }),
    ).rejects.toThrow('403');
  });
});
