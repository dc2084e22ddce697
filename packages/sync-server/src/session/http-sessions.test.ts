import { connect } from 'node:net';
import { MAX_HELLO_BYTES } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { insert, withAges } from '../../testing/changeset.ts';
import { HttpSessionClient } from '../../testing/http-session-client.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { HttpSessions } from './http-sessions.ts';
import type { Session } from './session.ts';
import type { SessionSocket } from './session-socket.ts';

const tested = serverUnderTest();

const openSession = (): Promise<HttpSessionClient> =>
  HttpSessionClient.open((...request) => tested.server.ask(...request));
const sayHello = async (client: HttpSessionClient): Promise<void> =>
  client.hello(await tested.server.token(), DATABASE);

describe('a session over plain HTTP', () => {
  it('handles a hello, pushes and writes of others, without delay, like any other session', async () => {
    const client = await openSession();
    await sayHello(client);
    expect(await client.next()).toMatchObject({ type: 'welcome', canWrite: true });
    expect(await client.next()).toMatchObject({ type: 'delivery', to: 0 });
    const changeset = client.site.write([insert('accounts', 'x', { name: 'x' })]);
    await client.send(
      {
        type: 'push',
        previousHash: client.site.hashes[0] as Uint8Array,
        olderEpochUpTo: 0,
        changesets: withAges([changeset], Date.now()),
      },
      { type: 'ping' },
    );
    const answers = [await client.next(), await client.next()];
    expect(answers.find(({ type }) => type === 'delivery')).toMatchObject({
      outcomes: [{ kind: 'admitted', sequence: 1 }],
    });
    const waiting = client.next();
    const other = await tested.server.open();
    await other.commit([insert('accounts', 'y', { name: 'y' })]);
    expect(await waiting).toMatchObject({ type: 'delivery', to: 2 });
    expect(await client.leave()).toBe(204);
    await other.close();
    // The server has ended the session, too.
    await expect.poll(async () => (await tested.server.ask('GET', '/metrics')).text()).toMatch(/rockpool_sockets 0\n/);
    expect(await client.leave()).toBe(400);
  });

  it('receives a catch-up in the order of its parts, over several polls', async () => {
    const writer = await tested.server.open();
    const note = 'x'.repeat(1_000_000);
    for (let row = 0; row < 3; row++) await writer.commit([insert('entries', `e${row}`, { amount: 1n, note })]);
    const client = await openSession();
    await sayHello(client);
    expect(await client.next()).toMatchObject({ type: 'welcome' });
    const rows: unknown[] = [];
    for (let message = await client.next(); ; message = await client.next()) {
      if (message.type !== 'delivery-part' && message.type !== 'delivery') throw new Error(message.type);
      rows.push(...message.groups.flatMap(({ keys }) => keys[0]));
      if (message.type === 'delivery') break;
    }
    expect(rows).toEqual(['e0', 'e1', 'e2']);
  });

  it('is refused, revoked and ended like any other session', async () => {
    const stranger = await openSession();
    await stranger.hello('noise', DATABASE);
    expect(await stranger.next()).toMatchObject({ type: 'failure', code: 'auth-token-invalid' });
    expect(stranger.closed).toBe('4000 auth-token-invalid');
    const member = await openSession();
    await sayHello(member);
    await member.next();
    await member.next();
    await tested.server.sync.members.setRole(DATABASE, 'ann', null);
    expect(await member.next()).toMatchObject({ type: 'failure', code: 'auth-database-forbidden' });
  });

  it('ends at an invalid frame without affecting other sessions', async () => {
    const client = await openSession();
    await sayHello(client);
    await client.next();
    await client.next();
    await client.send();
    const id = ((await (await tested.server.ask('POST', '/sessions')).json()) as { sessionId: string }).sessionId;
    expect((await tested.server.ask('POST', `/sessions/${id}`, { body: Uint8Array.of(200, 1, 2) })).status).toBe(400);
    const body = new Uint8Array(1024 * 1024 + 1);
    expect((await tested.server.ask('POST', `/sessions/${client.id}`, { body })).status).toBe(413);
    await client.send({ type: 'ping' });
    expect(await client.next()).toMatchObject({ type: 'pong' });
  });
});

describe('requests of a session', () => {
  /** One open session, with the socket that its server uses, and the first byte of each frame that it has taken. */
  function openOne(): {
    readonly sessions: HttpSessions;
    readonly id: string;
    readonly socket: SessionSocket;
    readonly taken: readonly (number | undefined)[];
  } {
    const sockets: SessionSocket[] = [];
    const taken: (number | undefined)[] = [];
    const sessions = new HttpSessions((opened) => {
      sockets.push(opened);
      const session: Partial<Session> = { receive: ([first]: Uint8Array) => void taken.push(first) };
      return session as Session;
    });
    const id = sessions.open(null);
    return { sessions, id, socket: sockets[0] as SessionSocket, taken };
  }

  const idOf = async (): Promise<string> =>
    ((await (await tested.server.ask('POST', '/sessions')).json()) as { sessionId: string }).sessionId;

  it('get the frames again whose response was lost, until the client counts them', async () => {
    const { sessions, id, socket } = openOne();
    socket.send(Uint8Array.of(7));
    let drained = 0;
    socket.whenDrained(() => drained++);
    expect((await sessions.poll(id, 0, 0)).frames).toEqual(Uint8Array.of(1, 7));
    socket.send(Uint8Array.of(8));
    expect((await sessions.poll(id, 0, 0)).frames).toEqual(Uint8Array.of(1, 7, 1, 8));
    expect([socket.unreadBytes(), drained]).toEqual([2, 0]);
    expect((await sessions.poll(id, 0, 1)).frames).toEqual(Uint8Array.of(1, 8));
    // A late repetition of the first request.
    expect((await sessions.poll(id, 0, 0)).frames).toEqual(Uint8Array.of(1, 8));
    expect((await sessions.poll(id, 0, 2)).frames).toHaveLength(0);
    expect([socket.unreadBytes(), drained]).toEqual([0, 1]);
    await expect(sessions.poll(id, 0, 3)).rejects.toMatchObject({ code: 'request-invalid' });
    socket.send(Uint8Array.of(9));
    socket.close(4000, 'internal');
    for (let count = 0; count < 2; count++)
      expect(await sessions.poll(id, 0, 2)).toEqual({
        frames: Uint8Array.of(1, 9),
        closed: { code: 4000, reason: 'internal' },
      });
    expect((await tested.server.ask('GET', `/sessions/${await idOf()}?received=many`)).status).toBe(400);
  });

  it('are refused if they repeat the same frames without end', async () => {
    const { sessions, id, socket } = openOne();
    socket.send(Uint8Array.of(7));
    for (let count = 0; count < 9; count++) expect((await sessions.poll(id, 0, 0)).frames).toHaveLength(2);
    await expect(sessions.poll(id, 0, 0)).rejects.toMatchObject({ code: 'rate-limited' });
    socket.send(Uint8Array.of(8));
    expect((await sessions.poll(id, 0, 1)).frames).toEqual(Uint8Array.of(1, 8));
    expect((await sessions.poll(id, 0, 1)).frames).toEqual(Uint8Array.of(1, 8));
  });

  it('are refused if they count one frame at a time and leave the rest to repeat', async () => {
    const { sessions, id, socket } = openOne();
    const poll = (received: number): Promise<unknown> => {
      socket.send(Uint8Array.of(7));
      return sessions.poll(id, 0, received);
    };
    socket.send(Uint8Array.of(7));
    for (let received = 0; received < 9; received++) await poll(received);
    await expect(poll(9)).rejects.toMatchObject({ code: 'rate-limited' });
  });

  it('get each frame once if an older client does not count them', async () => {
    const { sessions, id, socket } = openOne();
    for (const byte of [7, 8]) {
      socket.send(Uint8Array.of(byte));
      expect((await sessions.poll(id, 0)).frames).toEqual(Uint8Array.of(1, byte));
    }
  });

  it('that send frames again, because their response was lost, add only the frames that are new', async () => {
    const { sessions, id, taken } = openOne();
    const send = (sent: number | null, ...frames: number[]): Promise<void> => {
      const body = Uint8Array.from(frames.flatMap((frame) => [1, frame]));
      return sessions.receive(id, () => Promise.resolve(body), sent);
    };
    await expect(sessions.receive(id, () => Promise.reject(new Error('cut')), 0)).rejects.toThrow('cut');
    await send(0, 7, 8);
    await send(0, 7, 8);
    await send(1, 8, 9);
    await expect(send(4, 11)).rejects.toMatchObject({ code: 'request-invalid' });
    await send(3, 10);
    expect(taken).toEqual([7, 8, 9, 10]);
    // An older client counts none.
    for (let count = 0; count < 2; count++) await send(null, 11);
    expect(taken).toEqual([7, 8, 9, 10, 11, 11]);
    expect((await tested.server.ask('POST', `/sessions/${await idOf()}?sent=many`)).status).toBe(400);
  });

  it('that wait for frames are answered when another one waits', async () => {
    const { sessions, id, socket } = openOne();
    const longMs = 2 ** 31 - 1;
    const first = sessions.poll(id, longMs);
    const second = sessions.poll(id, longMs);
    expect((await first).frames).toHaveLength(0);
    socket.send(Uint8Array.of(7));
    expect((await second).frames).toEqual(Uint8Array.of(1, 7));
  });

  it('that send frames are read one at a time', async () => {
    const id = await idOf();
    const [host, port] = tested.server.host.split(':');
    const stalled = connect({ host, port: Number(port) });
    stalled.write(`POST /sessions/${id} HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n\x01`);
    const send = async (): Promise<number> =>
      (await tested.server.ask('POST', `/sessions/${id}`, { body: new Uint8Array(0) })).status;
    await expect.poll(send).toBe(400);
    stalled.destroy();
    await expect.poll(send).toBe(204);
  });

  it('that send frames before a valid token may be as large as a hello', async () => {
    const body = new Uint8Array(MAX_HELLO_BYTES + 2048);
    expect((await tested.server.ask('POST', `/sessions/${await idOf()}`, { body })).status).toBe(413);
  });
});

describe('sessions that have ended', () => {
  it('report their end to the next poll, and at most a thousand are kept for that', async () => {
    const first = await openSession();
    const ended = await openSession();
    for (const client of [first, ended]) await client.send({ type: 'ping' });
    expect(await ended.next()).toMatchObject({ type: 'failure', code: 'frame-unexpected' });
    for (let count = 0; count < 1_000; count++) await (await openSession()).send({ type: 'ping' });
    expect(await first.leave()).toBe(400);
    const last = await openSession();
    await last.send({ type: 'ping' });
    expect(await last.next()).toMatchObject({ type: 'failure' });
    expect(last.closed).toBe('4000 frame-unexpected');
  });
});
