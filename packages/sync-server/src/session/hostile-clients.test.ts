import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import {
  encodeMessage,
  MAX_FRAME_BYTES,
  MAX_HELLO_BYTES,
  messageToFrames,
  HELLO_DEADLINE_MS,
  SILENCE_LIMIT_MS,
} from '@rockpool/shared';
import { clientMessage } from '@rockpool/shared/testing';
import { describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { atLevel } from '../../../../tests/kit/level.ts';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import type { TestConnection } from '../../testing/test-client.ts';

const tested = serverUnderTest();

/** Expects that the server still serves other sessions. */
async function expectServerServes(): Promise<void> {
  const honest = await tested.server.open();
  const key = crypto.randomUUID();
  expect(await honest.commit([insert('accounts', key, { name: key })])).toMatchObject({ kind: 'admitted' });
  await honest.close();
  expect(tested.server.events.filter(({ event }) => event === 'session-error' || event === 'push-failed')).toEqual([]);
}

/** Sends frames that no library would send. */
function rawSocketOf(socket: WebSocket): Socket {
  return (socket as unknown as { readonly _socket: Socket })._socket;
}

async function failureCodeAfter(connection: TestConnection, send: () => void): Promise<string> {
  send();
  const { reason } = await connection.closes();
  return reason;
}

describe('frames that are noise', () => {
  it('end only their own session, with a typed failure, before the hello', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (noise) => {
        const connection = await tested.server.connect();
        const reason = await failureCodeAfter(connection, () => {
          connection.socketForAbuse.send(noise);
          connection.socketForAbuse.send(Uint8Array.from([9])); // never a frame
        });
        expect(reason).toMatch(/^(frame-.*|protocol-version)$/);
      }),
      // A hello of version 0.
      { numRuns: atLevel({ test: 25, verify: 150 }), examples: [[Uint8Array.from([0, 1, 0])]] },
    );
    await expectServerServes();
  });

  it('end only their own session, with a typed failure, when it is open', async () => {
    const token = await tested.server.token();
    const damaged = fc.tuple(clientMessage, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([message, at, flip]) => {
      const bytes = encodeMessage(message);
      const place = at % bytes.length;
      bytes[place] = (bytes[place] as number) ^ flip;
      return messageToFrames(bytes);
    });
    const intact = clientMessage.map((message) => messageToFrames(encodeMessage(message)));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(damaged, intact, fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 4 })),
        async (frames) => {
          const connection = await tested.server.connect();
          await connection.open(token, DATABASE);
          const reason = await failureCodeAfter(connection, () => {
            for (const frame of frames) connection.socketForAbuse.send(frame);
            connection.socketForAbuse.send(Uint8Array.from([9]));
          });
          expect(reason).toMatch(
            /^(frame-(invalid|too-large|unexpected)|protocol-version|changeset-chain-broken|cursor-ahead|site-copied|auth-token-invalid|key-invalid|presence-invalid)$/,
          );
        },
      ),
      { numRuns: atLevel({ test: 50, verify: 250 }) },
    );
    await expectServerServes();
  });

  it('include frames sent as text', async () => {
    const connection = await tested.server.connect();
    expect(await failureCodeAfter(connection, () => connection.socketForAbuse.send('hello'))).toBe('frame-invalid');
    await expectServerServes();
  });
});

describe('messages out of order', () => {
  it('end the session if they come before the hello or are a second hello', async () => {
    const early = await tested.server.connect();
    expect(await failureCodeAfter(early, () => early.send({ type: 'ping' }))).toBe('frame-unexpected');
    const twice = await tested.server.open();
    const token = await tested.server.token();
    expect(await failureCodeAfter(twice, () => twice.hello(token, DATABASE))).toBe('frame-unexpected');
  });

  it('wait for the welcome if they are sent right after the hello', async () => {
    const connection = await tested.server.connect();
    connection.site.write([insert('accounts', 'x', { name: 'x' })]);
    connection.hello(await tested.server.token(), DATABASE);
    connection.push();
    await connection.next('welcome');
    expect((await connection.decided(1)).outcomes).toHaveLength(1);
  });
});

describe('frames that are too large', () => {
  it('are refused by the WebSocket before they are read', async () => {
    const connection = await tested.server.connect();
    connection.socketForAbuse.send(new Uint8Array(MAX_FRAME_BYTES + 1));
    expect(await connection.closes()).toMatchObject({ code: 1009 });
    await expectServerServes();
  });

  it('are refused by their declared size, before their content arrives', async () => {
    const connection = await tested.server.open();
    const header = Buffer.alloc(14); // masked, with a length of 64 bits
    header.set([0b1000_0010, 0b1111_1111]);
    header.writeBigUInt64BE(100n * 1024n * 1024n, 2);
    rawSocketOf(connection.socketForAbuse).write(header);
    expect(await connection.closes()).toMatchObject({ code: 1009 });
    await expectServerServes();
  });

  it('have a lower limit before the hello', async () => {
    const connection = await tested.server.connect();
    expect(
      await failureCodeAfter(connection, () => connection.socketForAbuse.send(new Uint8Array(MAX_HELLO_BYTES + 2))),
    ).toBe('frame-too-large');
    await expectServerServes();
  });
});

describe('a WebSocket', () => {
  const metrics = async (): Promise<string> => (await tested.server.ask('GET', '/metrics')).text();

  it('is disconnected and counted if a frame is too large or in too many parts', async () => {
    const large = await tested.server.open();
    large.socketForAbuse.send(new Uint8Array(MAX_FRAME_BYTES + 1));
    await large.closes();
    const crumbs = await tested.server.open();
    for (let part = 0; part <= 16_384; part++) crumbs.socketForAbuse.send(Uint8Array.of(0), { fin: false });
    expect(await crumbs.closes()).toMatchObject({ code: 1008 });
    expect(await metrics()).toContain('rockpool_sockets_cut_total{reason="frame-too-large"} 2');
    await expectServerServes();
  });

  it('whose client does not answer the closing handshake is disconnected after 5 s', async () => {
    const { socketForAbuse: socket } = await tested.server.connect();
    const raw = rawSocketOf(socket).removeAllListeners('data');
    const received: Buffer[] = [];
    const closing = new Promise<void>((resolve) => {
      raw.on('data', (bytes: Buffer) => {
        received.push(bytes);
        // The code of a closing frame
        if (Buffer.concat(received).includes(0b1000_1000)) resolve();
      });
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      socket.send(Uint8Array.of(255));
      await closing;
      const closed = new Promise((resolve) => void raw.once('close', () => resolve('closed')));
      const timers = vi.getTimerCount();
      vi.advanceTimersByTime(5_000);
      expect(vi.getTimerCount()).toBeLessThan(timers);
      expect(await closed).toBe('closed');
    } finally {
      vi.useRealTimers();
      raw.destroy();
    }
  });

  it('cannot negotiate compression, so no small frame becomes large', async () => {
    const socket = new WebSocket(`ws://${tested.server.host}/sync`, { perMessageDeflate: true });
    await new Promise((resolve) => socket.once('open', resolve));
    expect(socket.extensions).toBe('');
    // Sends a compressed frame anyway, although compression was never negotiated.
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    rawSocketOf(socket).write(Uint8Array.of(0b1100_0010, 0b1000_0001, 0, 0, 0, 0, 0));
    expect(await closed).toBe(1002);
    expect(await metrics()).toContain('rockpool_sockets_cut_total{reason="frame-invalid"} 1');
    await expectServerServes();
  });
});

describe('a WebSocket that is refused', () => {
  it('is disconnected, even if the client keeps its end open', async () => {
    const [host, port] = tested.server.host.split(':');
    const socket = connect({ host, port: Number(port), allowHalfOpen: true }).resume();
    socket.on('error', () => undefined);
    socket.write(
      'GET /sync HTTP/1.1\r\nHost: here\r\nOrigin: https://evil.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    const closed = new Promise((resolve) => void socket.once('close', () => resolve('closed')));
    // A closed connection answers further bytes with a reset.
    const writes = setInterval(() => socket.write('x'), 5);
    expect(await closed).toBe('closed');
    clearInterval(writes);
  });
});

describe('a silent client', () => {
  let nowMs = Date.now();
  const quiet = serverUnderTest({ now: () => nowMs, limits: { silenceLimitMs: SILENCE_LIMIT_MS } });

  it('is disconnected, both before and after its hello', async () => {
    const open = async (): Promise<TestConnection> => {
      const opened = await quiet.server.open();
      // The welcome may arrive before the server has begun to count the silence after it.
      await opened.roundTrip();
      return opened;
    };
    for (const connect of [() => quiet.server.connect(), open]) {
      const silent = await connect();
      nowMs += SILENCE_LIMIT_MS;
      expect(await silent.closes()).toMatchObject({ code: 1006 });
    }
    expect(quiet.server.events.filter(({ event }) => event === 'session-silent')).toHaveLength(2);
    expect(await (await quiet.server.ask('GET', '/metrics')).text()).toContain(
      'rockpool_sockets_cut_total{reason="silent"} 2',
    );
  });
});

describe('a server that takes a long time to answer a hello', () => {
  let nowMs = Date.now();
  let asked: () => void;
  let allow: (isAllowed: boolean) => void;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const isAllowed = new Promise<boolean>((resolve) => (allow = resolve));
  const slow = serverUnderTest({
    now: () => nowMs,
    authorize: () => {
      asked();
      return isAllowed;
    },
    limits: { silenceLimitMs: SILENCE_LIMIT_MS },
  });

  it('keeps the client past the deadline of the hello, and counts its silence from the welcome', async () => {
    const { server } = slow;
    const waiting = await server.connect();
    waiting.hello(await server.token(), DATABASE);
    await isAsked;
    /** Resolves after a check of all deadlines, which ends a connection without a hello. */
    const afterMs = async (passedMs: number): Promise<void> => {
      const silent = await server.connect();
      nowMs += passedMs;
      expect(await silent.closes()).toMatchObject({ code: 1006 });
    };
    await afterMs(HELLO_DEADLINE_MS + 1);
    allow(true);
    await waiting.next('welcome');
    await afterMs(SILENCE_LIMIT_MS - 1);
    await waiting.roundTrip();
    expect(waiting.closed).toBeNull();
  });
});

describe('a server that was busy for a long time', () => {
  let nowMs = Date.now();
  const busy = serverUnderTest({ now: () => nowMs, limits: { silenceLimitMs: SILENCE_LIMIT_MS } });

  it('reads waiting frames before it disconnects silent sessions', async () => {
    const honest = await busy.server.open();
    honest.keepAlive();
    // The next deadline check is due when the thread is free again.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    nowMs += SILENCE_LIMIT_MS;
    await honest.roundTrip();
    expect(honest.closed).toBeNull();
    expect(busy.server.events.map(({ event }) => event)).not.toContain('session-silent');
  });
});

describe('a client that does not read', () => {
  it('is disconnected when too many bytes are unread, and catches up from its cursor', async () => {
    const slow = await tested.server.open();
    const writer = await tested.server.open();
    slow.socketForAbuse.pause();
    const note = 'x'.repeat(500_000);
    let count = 0;
    const isCut = (): boolean =>
      tested.server.events.some(
        ({ event, fields }) => event === 'session-failed' && 'code' in fields && fields.code === 'slow-consumer',
      );
    while (!isCut() && count < 200) await writer.commit([insert('entries', `e${++count}`, { amount: 1n, note })]);
    expect(isCut()).toBe(true);
    expect(count).toBeGreaterThan(4); // sockets within the limit are not refused
    slow.socketForAbuse.resume();
    const { reason } = await slow.closes();
    expect(reason).toBe('slow-consumer');
    const again = await tested.server.connect(slow.site);
    const { first } = await again.open(await tested.server.token(), DATABASE);
    expect(first).toMatchObject({ from: 0, to: count });
    expect(first.groups.reduce((rows, { rowCount }) => rows + rowCount, 0)).toBe(count);
  });
});

describe('a client with a slow link', () => {
  it('receives a catch-up above the limit of unread bytes while others write', async () => {
    const writer = await tested.server.open();
    const note = 'x'.repeat(5_000_000);
    const rows = 5; // more than the system buffers of a connection take
    for (let row = 0; row < rows; row++) await writer.commit([insert('entries', `e${row}`, { amount: 1n, note })]);
    const slow = await tested.server.connect();
    const opening = slow.open(await tested.server.token(), DATABASE);
    slow.socketForAbuse.pause();
    const isOpened = (): boolean => tested.server.events.filter(({ event }) => event === 'session-opened').length > 1;
    while (!isOpened()) await new Promise((resolve) => setImmediate(resolve));
    for (let row = 0; row < 3; row++) await writer.commit([insert('accounts', `a${row}`, { name: `a${row}` })]);
    slow.socketForAbuse.resume();
    expect((await opening).first).toMatchObject({ from: 0, to: rows });
    for (let row = 1; row <= 3; row++) expect(await slow.delivery()).toMatchObject({ to: rows + row });
  });
});
