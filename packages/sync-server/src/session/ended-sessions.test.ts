import { afterEach, beforeEach, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../testing/admin-client.ts';
import { insert } from '../../testing/changeset.ts';
import { HttpSessionClient } from '../../testing/http-session-client.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { collectGarbage } from '../../testing/used-memory.ts';
import { Session } from './session.ts';

// With the admin API, the server remembers how the last session of each device ended.
const tested = serverUnderTest({ admin: { token: ADMIN_TOKEN } });

/** The sessions that have received a frame, as long as they are in memory. */
let sessions: WeakRef<Session>[];
const kept = (): number => sessions.filter((session) => session.deref() !== undefined).length;
const { receive } = Session.prototype;
beforeEach(() => {
  sessions = [];
  const seen = new WeakSet<Session>();
  Session.prototype.receive = function (frame) {
    if (!seen.has(this)) sessions.push(new WeakRef(this));
    seen.add(this);
    receive.call(this, frame);
  };
});
afterEach(() => {
  Session.prototype.receive = receive;
});

const open = (): Promise<TestConnection> => tested.server.open();

async function refused(token: string, schemaHash?: string): Promise<void> {
  const connection = await tested.server.connect();
  connection.hello(token, DATABASE, schemaHash === undefined ? {} : { schemaHash });
  await connection.failure();
  await connection.closes();
}

const ENDS: Readonly<Record<string, () => Promise<void>>> = {
  'its client closes it': async () => (await open()).close(),
  'its connection is cut': async () => (await open()).cut(),
  'its client has pushed': async () => {
    const connection = await open();
    await connection.commit([insert('accounts', crypto.randomUUID(), { name: 'x' })]);
    connection.confirm();
    await connection.close();
  },
  'its client has shown presence': async () => {
    const connection = await open();
    const tabId = crypto.getRandomValues(new Uint8Array(16));
    connection.send({ type: 'presence', states: [{ tabId, topic: 'list', stateJson: '1' }] });
    await connection.next('presence-update');
    await connection.close();
  },
  'its client has renewed its token': async () => {
    const connection = await open();
    connection.send({ type: 'renew-token', token: await tested.server.token() });
    await connection.roundTrip();
    await connection.close();
  },
  'its client sends an invalid frame': async () => {
    const connection = await open();
    connection.socketForAbuse.send(Uint8Array.of(9));
    await connection.closes();
  },
  'its token is invalid': () => refused('no token'),
  'its token is for another database': async () => refused(await tested.server.token('editor', 'eve', 'elsewhere')),
  'its schema is unknown': async () => refused(await tested.server.token(), 'of-another-app'),
  'its client leaves over plain HTTP': async () => {
    const client = await HttpSessionClient.open((...request) => tested.server.ask(...request));
    await client.hello(await tested.server.token(), DATABASE);
    await client.next();
    await client.leave();
  },
};

for (const [end, run] of Object.entries(ENDS))
  it(`the server keeps nothing of a session that has ended after ${end}`, async () => {
    for (let i = 0; i < 3; i++) await run();
    expect(sessions).toHaveLength(3);
    // A cut connection is noticed later, and a session is in memory until its socket is closed.
    await expect
      .poll(() => {
        collectGarbage();
        return kept();
      })
      .toBe(0);
  });
