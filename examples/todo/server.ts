import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { createSyncServer } from '@rockpool/sync-server';
import { Hono } from 'hono';
import { schema } from './schema.ts';

const { TODO_PORT = '4400', TODO_DATA = './data', TODO_SECRET } = process.env;
if (TODO_SECRET === undefined)
  throw new Error('TODO_SECRET is not set. It signs the tokens and needs at least 32 random characters.');

const sync = createSyncServer({ dataDir: TODO_DATA, schema, secret: TODO_SECRET });
const app = new Hono();
// Everyone is Ann here. An app with accounts checks its session, and names the databases that the user may open.
app.get('/token', async (context) =>
  context.text(await sync.issueToken({ principal: 'ann', databases: ['my-list'], ttlMs: 60 * 60 * 1000 })),
);
app.route('/sync', sync.app); // plain HTTP
const http = createAdaptorServer({ fetch: app.fetch }) as Server;
sync.attach(http, '/sync'); // WebSockets
http.listen(Number(TODO_PORT), () => console.log(`listening on ${TODO_PORT}`));

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    http.close();
    void sync.close();
  });
