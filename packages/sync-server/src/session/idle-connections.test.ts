import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitIdleConnections } from './idle-connections.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: here\r\n\r\n';

let server: Server;
let sockets: Socket[];
let address: string | null;
let answering: (response: ServerResponse) => void;
beforeEach(async () => {
  sockets = [];
  address = null;
  answering = (response) => response.end('answered');
  server = createServer((_, response) => answering(response));
  // Otherwise Node closes a kept connection after 5 s, whether the limit works or not.
  server.keepAliveTimeout = 0;
  server.on('upgrade', (_, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'));
  limitIdleConnections(server, { maxUnauthenticated: 3, maxUnauthenticatedPerAddress: 2 }, () => address);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Opens a connection. Resolves once the server has seen it. */
async function opened(): Promise<Socket> {
  const seen = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
  socket.on('error', () => undefined);
  sockets.push(socket);
  await seen;
  return socket;
}

async function asked(socket: Socket): Promise<string> {
  socket.write(REQUEST);
  return String(await once(socket, 'data'));
}

const closed = (socket: Socket): Promise<unknown> => once(socket, 'close');

describe('a server whose idle connections are limited', () => {
  it('closes the connection that has waited longest, however many arrive, and answers the others', async () => {
    const silent: Socket[] = [];
    const ends: Promise<unknown>[] = [];
    for (let i = 0; i < 50; i++) {
      const socket = await opened();
      silent.push(socket);
      ends.push(closed(socket));
    }
    await Promise.all(ends.slice(0, 47));
    for (const socket of silent.slice(47)) expect(await asked(socket)).toContain('answered');
  });

  it('keeps a connection that has sent its request, and one that became a session', async () => {
    const responses: ServerResponse[] = [];
    answering = (response) => void responses.push(response);
    const [waiting, session] = [await opened(), await opened()];
    const requested = once(server, 'request');
    waiting.write(REQUEST);
    await requested;
    session.write('GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await once(session, 'data');
    const first = await opened();
    for (let i = 0; i < 3; i++) await opened();
    await closed(first);
    responses[0]?.end('late');
    expect(String(await once(waiting, 'data'))).toContain('late');
    expect(session.destroyed).toBe(false);
  });

  it('does not count a session whose earlier request is answered late', async () => {
    const responses: ServerResponse[] = [];
    answering = (response) => void responses.push(response);
    const accepted = once(server, 'connection');
    const session = await opened();
    const [there] = (await accepted) as [Socket];
    const upgraded = once(server, 'upgrade');
    session.write(`${REQUEST}GET / HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    await upgraded;
    const answered = once(responses[0] as ServerResponse, 'close');
    responses[0]?.end('late');
    await answered;
    for (let i = 0; i < 3; i++) await opened();
    expect(there.destroyed).toBe(false);
  });

  it('counts a connection again after its response', async () => {
    const kept = await opened();
    expect(await asked(kept)).toContain('answered');
    expect(await asked(kept)).toContain('answered');
    const end = closed(kept);
    for (let i = 0; i < 3; i++) await opened();
    await end;
  });

  it('counts a connection once, however many requests it sends at the same time', async () => {
    const responses: ServerResponse[] = [];
    answering = (response) => void responses.push(response);
    const eager = await opened();
    let received = '';
    eager.on('data', (chunk: Buffer) => (received += chunk.toString()));
    eager.write(REQUEST.repeat(5));
    await expect.poll(() => responses.length).toBe(5);
    for (const response of responses) response.end('answered');
    await expect.poll(() => received.split('answered').length).toBe(6);
    const others = [await opened(), await opened()];
    // Reaches the limit; no connection is closed.
    for (const socket of [...others, eager]) {
      const requested = once(server, 'request');
      socket.write(REQUEST);
      await requested;
    }
    for (const socket of [...others, eager]) expect(socket.destroyed).toBe(false);
  });

  it('closes a further connection of an address that has too many, and no connection of other addresses', async () => {
    address = '203.0.113.1';
    const [first, second, third] = [await opened(), await opened(), await opened()];
    await closed(third);
    address = '203.0.113.2';
    expect(await asked(await opened())).toContain('answered');
    address = '203.0.113.1';
    // Kept connections do not count for their address.
    for (const socket of [first, second]) expect(await asked(socket)).toContain('answered');
    expect(await asked(await opened())).toContain('answered');
  });

  it('does not count connections that their client has closed', async () => {
    address = '203.0.113.1';
    const accepted: Socket[] = [];
    server.on('connection', (socket: Socket) => void accepted.push(socket));
    const clients = [await opened(), await opened()];
    const ends = accepted.map(closed);
    for (const client of clients) client.destroy();
    await Promise.all(ends);
    expect(await asked(await opened())).toContain('answered');
  });
});
