import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { createClient, type Transport } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';

const note = sqliteTable('note', { id: text().primaryKey() });
const schema = defineSchema({ note }, { history: [note] });

it('a client that closes ends its requests to a server that does not answer, which would keep a process alive', async () => {
  const signals: AbortSignal[] = [];
  const transport: Transport = {
    connect: () => ({ send: () => undefined, bufferedBytes: 0, close: () => undefined }),
    request: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signals.push(signal as AbortSignal);
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  };
  const client = await createClient({
    name: 'notes',
    schema,
    sync: { url: 'ws://silent', databaseId: 'notes', token: () => 'token', transport },
  });
  const history = await client.history('note', 'a');
  const asked = [history.page(), client.past({ version: 1 })].map((request) =>
    request.then(
      () => null,
      (error: unknown) => error,
    ),
  );
  await expect.poll(() => signals).toHaveLength(2);
  await client.close();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(await Promise.all(asked)).toMatchObject([{ code: 'client-closed' }, { code: 'client-closed' }]);
});

it('a closed client has no socket that keeps the process alive, also if the server does not answer the close', async () => {
  const sockets: Duplex[] = [];
  const server = createServer().on('upgrade', ({ headers }, socket: Duplex & { unref(): void }) => {
    // A client in the same process: this end must not count.
    socket.unref();
    sockets.push(socket);
    const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    const upgraded = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade';
    socket.write(`${upgraded}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const activeSockets = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
  const before = activeSockets();
  const client = await createClient({
    name: 'notes',
    schema,
    sync: {
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/sync`,
      databaseId: 'notes',
      token: () => 'token',
    },
  });
  await expect.poll(() => client.status.current.waitingFor?.stage).toBe('welcome');
  await client.close();
  expect([sockets.length, activeSockets()]).toEqual([1, before]);
});
