import { once } from 'node:events';
import { connect, createConnection, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeMessage, FrameAssembler, MAX_FRAME_BYTES, messageToFrames } from '@rockpool/shared';
import { issueToken } from '../auth/jwt.ts';
import { serve, type RunningServer } from '../serve.ts';
import { ADMIN_TOKEN } from '../../testing/admin-client.ts';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { DATABASE, TEST_SECRET } from '../../testing/test-server.ts';
import { Rate } from './rate.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

describe('the rate of frames', () => {
  it('allows a burst, then a fixed number per second, and does not grow when the clock is set back', () => {
    const rate = new Rate({ burst: 3, perSecond: 2 }, 1_000);
    expect([1, 2, 3, 4].map(() => rate.take(1_000))).toEqual([true, true, true, false]);
    expect(rate.take(1_500)).toBe(true);
    expect(rate.take(1_500)).toBe(false);
    expect(rate.take(0)).toBe(false);
    expect([rate.take(500), rate.take(500)]).toEqual([true, false]);
    expect([1, 2, 3, 4].map(() => rate.take(60_000))).toEqual([true, true, true, false]);
  });
});

describe('limits of sessions', () => {
  const tested = serverUnderTest({
    limits: { frameBurst: 20, framesPerSecond: 1, maxSockets: 3, maxSessionsPerPrincipal: 2 },
  });
  const metrics = async (): Promise<string> => (await tested.server.ask('GET', '/metrics')).text();

  it('end a session that sends too many frames, including parts of a message', async () => {
    for (const frame of [messageToFrames(encodeMessage({ type: 'ping' }))[0] as Uint8Array, Uint8Array.of(1, 7)]) {
      const connection = await tested.server.open();
      for (let i = 0; i < 100; i++) connection.socketForAbuse.send(frame);
      expect(await connection.closes()).toMatchObject({ reason: 'rate-limited' });
    }
    expect(await metrics()).toContain('rockpool_sessions_failed_total{code="rate-limited"} 2');
  });

  it('cap the sessions of a principal, and a session that ends makes room for another', async () => {
    const first = await tested.server.open();
    await tested.server.open();
    const third = await tested.server.connect();
    third.hello(await tested.server.token(), DATABASE);
    expect(await third.failure()).toMatchObject({ code: 'too-many-connections', fields: { limit: 2 } });
    await third.closes();
    await first.close();
    const again = await tested.server.open();
    expect(again.closed).toBeNull();
    expect(await metrics()).toMatch(/code="too-many-connections"} 1/);
  });

  it('cap the sockets of the server, before the upgrade', async () => {
    for (const principal of ['ann', 'ben', 'cat']) await tested.server.open(undefined, { principal });
    await expect(tested.server.connect()).rejects.toThrow('503');
    expect(await metrics()).toContain('rockpool_sockets_refused_total{reason="too-many-connections"} 1');
    expect(await metrics()).toContain('rockpool_sockets 3');
  });

  it('also cap the sockets of the server when clients that have waited show their tokens', async () => {
    const waiting = [];
    for (let i = 0; i < 4; i++) waiting.push(await tested.server.connect());
    const last = waiting.pop() as TestConnection;
    for (const [i, connection] of waiting.entries())
      await connection.open(await tested.server.token('viewer', `ben${i}`), DATABASE);
    last.hello(await tested.server.token('viewer', 'cyd'), DATABASE);
    expect(await last.failure()).toMatchObject({ code: 'too-many-connections', fields: { limit: 3 } });
  });
});

describe('clients without a token', () => {
  const tested = serverUnderTest({
    limits: { maxSockets: 4, maxUnauthenticated: 3, maxUnauthenticatedPerAddress: 2, helloDeadlineMs: 60_000 },
  });
  const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
  const openByHttp = async (address: string): Promise<number> =>
    (await tested.server.ask('POST', '/sessions', { headers: from(address) })).status;

  it('do not use up the limit of members, however many connections they open', async () => {
    const member = await tested.server.open();
    const answers: number[] = [];
    for (let i = 0; i < 20; i++) answers.push(await openByHttp(`203.0.113.${i}`));
    expect(new Set(answers)).toEqual(new Set([201]));
    for (let i = 0; i < 20; i++) await tested.server.connect(undefined, from(`198.51.100.${i}`));
    expect(await (await tested.server.ask('GET', '/metrics')).text()).toMatch(/rockpool_sockets_unauthenticated 3\n/);
    for (let i = 0; i < 3; i++) await tested.server.open(undefined, { principal: `ben${i}` });
    await member.roundTrip();
    expect(member.closed).toBeNull();
  });

  it('are disconnected in the order of their arrival when others arrive', async () => {
    const [first, second] = [await tested.server.connect(), await tested.server.connect()];
    await tested.server.connect();
    await tested.server.connect();
    expect(await first.failure()).toMatchObject({ code: 'too-many-connections', fields: { limit: 3 } });
    await second.open(await tested.server.token(), DATABASE);
  });

  it('are limited by their address, over WebSockets and plain HTTP', async () => {
    expect(await openByHttp('203.0.113.1')).toBe(201);
    const waiting = await tested.server.connect(undefined, from('203.0.113.1'));
    expect(await openByHttp('203.0.113.1')).toBe(503);
    await expect(tested.server.connect(undefined, from('203.0.113.1'))).rejects.toThrow('503');
    expect(await openByHttp('203.0.113.2')).toBe(201);
    // A connection with a valid token no longer counts.
    await waiting.open(await tested.server.token(), DATABASE);
    expect(await openByHttp('203.0.113.1')).toBe(201);
  });

  it('cannot send a body to a session that does not exist', async () => {
    const body = new Uint8Array(1024 * 1024 + 1);
    expect((await tested.server.ask('POST', '/sessions/guessed', { body })).status).toBe(400);
  });
});

describe('metrics', () => {
  // Threads send their report every second.
  const tested = serverUnderTest({ threads: 1 });

  it('count events with units, without naming users', async () => {
    const connection = await tested.server.open();
    await connection.commit([insert('accounts', 'x', { name: 'a private name' })]);
    const response = await tested.server.ask('GET', '/metrics');
    expect(response.headers.get('content-type')).toContain('version=0.0.4');
    const text = await response.text();
    for (const line of [
      'rockpool_sessions_opened_total 1',
      'rockpool_messages_received_total{type="push"} 1',
      'rockpool_push_duration_seconds_count 1',
      'rockpool_databases_open 1',
      'rockpool_changesets_pushed_total 1',
      'rockpool_ready 1',
      'rockpool_disk_full 0',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    // Every metric has a help text, and a unit or a count in its name.
    for (const [, name = ''] of text.matchAll(/^# TYPE (\S+)/gm)) {
      expect(text).toContain(`# HELP ${name} `);
      expect(name).toMatch(
        /_(total|seconds|bytes)$|^rockpool_(build_info|ready|tenants|disk_full|sockets(_unauthenticated)?|bus_connected|postgres_connections|backup_(enabled|failing|pending_databases)|databases_(open|damaged|unservable|unloaded))$/,
      );
    }
    for (const secret of [DATABASE, 'ann', 'private', Buffer.from(connection.site.siteId).toString('hex')])
      expect(text).not.toContain(secret);
  });

  it('report that the server is not ready while it stops', async () => {
    expect((await tested.server.ask('GET', '/ready')).status).toBe(200);
    const connection = await tested.server.open();
    connection.socketForAbuse.pause();
    const stopping = tested.server.sync.close();
    expect((await tested.server.ask('GET', '/ready')).status).toBe(503);
    expect((await tested.server.ask('GET', '/health')).status).toBe(200);
    connection.socketForAbuse.resume();
    await stopping;
  });
});

describe('connections that send no request', () => {
  const config = {
    schema: TEST_SCHEMA,
    secret: new TextEncoder().encode(TEST_SECRET),
    host: '127.0.0.1',
    port: 0,
    origins: [],
    trustedProxies: [],
  };
  const address = { host: '127.0.0.1', port: 0 };
  let running: RunningServer;
  afterEach(() => running.stop());

  it('are closed at the deadline for headers', async () => {
    running = await serve(
      { ...config, dataDir: temporaryFolder() },
      { headersMs: 200, requestMs: 400, checkIntervalMs: 50 },
    );
    const [silent, slow] = [silentAt(running.url), silentAt(running.url)];
    slow.write('GET /health HTTP/1.1\r\n');
    await Promise.all([silent, slow].map((socket) => once(socket, 'close')));
    // Repeats, because the same deadline may end a request on a busy machine.
    await expect.poll(async () => (await fetch(`${running.url}/health`)).status).toBe(200);
  });

  it('are limited on every port of the server: the one that has waited longest is closed', async () => {
    running = await serve({
      ...config,
      dataDir: temporaryFolder(),
      limits: { maxUnauthenticated: 3 },
      metricsAddress: address,
      adminAddress: address,
      admin: { token: ADMIN_TOKEN },
    });
    for (const url of [running.url, running.metricsUrl ?? '', running.adminUrl ?? '']) {
      const first = silentAt(url);
      const closed = once(first, 'close');
      await once(first, 'connect');
      const others = Array.from({ length: 3 }, () => silentAt(url));
      await closed;
      expect(first.destroyed).toBe(true);
      for (const socket of others) socket.destroy();
    }
  });
});

it('a message in parts of one byte takes little more memory than its bytes', () => {
  const PARTS = 1_000_000;
  const assembler = new FrameAssembler(2 * PARTS);
  const part = messageToFrames(new Uint8Array(MAX_FRAME_BYTES))[0]?.slice(0, 2) as Uint8Array;
  const usedBytes = (): number => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = usedBytes();
  for (let n = 0; n < PARTS; n++) assembler.add(part);
  // Each part as an object of its own would take 250 bytes.
  expect(usedBytes() - before).toBeLessThan(100 * PARTS);
});

function silentAt(url: string): Socket {
  return connect(Number(new URL(url).port), '127.0.0.1').resume();
}

describe('plain HTTP', () => {
  let folder: string;
  let server: RunningServer;
  beforeEach(async () => {
    folder = temporaryFolder();
    server = await serve({
      dataDir: folder,
      schema: TEST_SCHEMA,
      secret: new TextEncoder().encode(TEST_SECRET),
      host: '127.0.0.1',
      port: 0,
      origins: [],
      trustedProxies: [],
    });
  });
  afterEach(async () => {
    await server.stop();
  });

  const ownerToken = (): Promise<string> =>
    issueToken(
      new TextEncoder().encode(TEST_SECRET),
      { principal: 'ann', databases: [DATABASE], role: 'owner', ttlMs: 3_600_000 },
      Date.now(),
    );

  it('is answered at the path of the sockets and at the root', async () => {
    for (const path of ['/health', '/sync/health']) expect((await fetch(server.url + path)).status).toBe(200);
  });

  it('refuses deeply nested JSON', async () => {
    const depth = 2_000;
    for (const body of ['['.repeat(2 * depth), '['.repeat(depth) + ']'.repeat(depth)]) {
      const response = await fetch(`${server.url}/databases/${DATABASE}/members/x`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${await ownerToken()}` },
        body,
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'request-invalid' });
    }
  });

  it('refuses a body over the limit, whatever its headers declare', async () => {
    const { port } = new URL(server.url);
    const token = await ownerToken();
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = createConnection(Number(port), '127.0.0.1');
      socket.write(
        `PUT /databases/${DATABASE}/members/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      for (let i = 0; i < 8; i++) socket.write(`1000\r\n${' '.repeat(4096)}\r\n`);
      let received = '';
      socket.on('data', (data) => {
        received += data.toString();
        if (!received.includes('}')) return;
        resolve(received);
        socket.destroy();
      });
      socket.once('error', reject).once('close', () => resolve(received));
    });
    expect(answer).toContain('413');
    expect(answer).toContain('frame-too-large');
  });
});
