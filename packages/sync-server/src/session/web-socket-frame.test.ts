import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { SessionSocket } from './session-socket.ts';
import { WebSocketConnection } from './web-socket-connection.ts';
import { webSocketFrame } from './web-socket-frame.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A session's socket and the client at its other end, over loopback. */
async function connected(): Promise<{
  readonly socket: SessionSocket;
  readonly stream: Socket;
  readonly client: WebSocket;
}> {
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  closing.push(() => {
    client.terminate();
    server.close();
    http.closeAllConnections();
    http.close();
  });
  const [[webSocket, { socket }]] = await Promise.all([once(server, 'connection'), once(client, 'open')]);
  return { socket: new WebSocketConnection(webSocket, socket), stream: socket, client };
}

const filled = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 7 + length) & 0xff);

it('frames of any size arrive whole and in order, between pongs, however often they are sent', async () => {
  const { socket, client } = await connected();
  const payloads = [0, 1, 125, 126, 127, 16_384, 16_385, 65_535, 65_536, 100_000].map(filled);
  const sent = [...payloads, ...payloads];
  const received: Buffer[] = [];
  let pongs = 0;
  client.on('pong', () => pongs++);
  const all = new Promise<void>((resolve, reject) => {
    client.on('error', reject).on('close', reject);
    client.on('message', (data: Buffer, isBinary) => {
      expect(isBinary).toBe(true);
      received.push(data);
      if (received.length === sent.length) resolve();
    });
  });
  for (const payload of sent) {
    client.ping();
    socket.send(payload);
    await new Promise(setImmediate);
  }
  await all;
  expect(received.map((data) => new Uint8Array(data))).toEqual(sent);
  expect(pongs).toBeGreaterThan(0);
});

it('sessions share the bytes of a frame, unless it is large', () => {
  const payload = filled(200);
  expect(webSocketFrame(payload)).toBe(webSocketFrame(payload));
  expect(webSocketFrame(filled(16 * 1024 + 1))).toBe(undefined);
});

it('nothing is sent after the closing handshake has begun', async () => {
  const { socket, stream, client } = await connected();
  socket.send(filled(3));
  socket.close(4000, 'done');
  const { bytesWritten } = stream;
  socket.send(filled(4));
  expect(stream.bytesWritten).toBe(bytesWritten);
  expect((await once(client, 'close'))[0]).toBe(4000);
});

it('bytes that the client does not read count as unread', async () => {
  const { socket, client } = await connected();
  client.pause();
  const payload = filled(16_000);
  for (let i = 0; i < 1_000; i++) socket.send(payload);
  expect(socket.unreadBytes()).toBeGreaterThan(1_000_000);
});
