import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { createSyncServer } from './create-sync-server.ts';
import { insert } from './testing/changeset.ts';
import { TestConnection } from './testing/test-client.ts';
import { TEST_SCHEMA } from './testing/test-schema.ts';
import { DATABASE, temporaryFolder, TEST_SECRET } from './testing/test-server.ts';

it('runs inside an app of somebody else, beside the app’s own routes and its own sockets', async () => {
  const folder = temporaryFolder();
  const sync = createSyncServer({ dataDir: folder.path, schema: TEST_SCHEMA, secret: TEST_SECRET, log: () => undefined });
  const app = new Hono();
  app.get('/', (context) => context.text('the app'));
  app.route('/sync', sync.app);
  const http = createAdaptorServer({ fetch: app.fetch }) as Server;
  sync.attach(http, '/sync');
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(http.address() as AddressInfo).port}`;
  try {
    expect(await (await fetch(`http://${host}/`)).text()).toBe('the app');
    expect(await (await fetch(`http://${host}/sync/health`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`http://${host}/health`)).status).toBe(404);
    const connection = await TestConnection.connect(`ws://${host}/sync`);
    await connection.open(await sync.issueToken({ principal: 'ann', databases: [DATABASE], ttlMs: 60_000 }), DATABASE);
    expect(await connection.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
    await connection.close();
  } finally {
    await sync.close();
    http.closeAllConnections();
    http.close();
    folder.remove();
  }
});
