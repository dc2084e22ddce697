import { connect } from '@nats-io/transport-node';
import { RockpoolError } from '@rockpool/shared';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { isNatsMissing, NatsServer } from '../../testing/nats-server.ts';
import { SlowLink } from '../../testing/slow-link.ts';
import { until } from '../../../../tests/kit/until.ts';
import { busContract } from './bus.contract.ts';
import type { BusMessage } from './bus.ts';
import { NatsBus, natsUrlProblem } from './nats-bus.ts';

/** Longer than a test may take. */
const NEVER_MS = 3_600_000;

const A_MEMBER: BusMessage = { kind: 'members', databaseId: 'a' };
const LARGE: BusMessage = { kind: 'presence', databaseId: 'a', instance: 'x', update: 'A'.repeat(7_000), asks: false };

async function startNats(settings?: string): Promise<NatsServer> {
  const nats = await NatsServer.start(settings);
  onTestFinished(() => nats.kill());
  return nats;
}

function makeBus(
  url: string,
  { storeId = 'store', pingIntervalMs = NEVER_MS, errors = [] as unknown[] } = {},
): NatsBus {
  const bus = new NatsBus(
    { servers: [url] },
    () => Promise.resolve(storeId),
    (error) => void errors.push(error),
    pingIntervalMs,
  );
  onTestFinished(() => bus.close());
  return bus;
}

/** Publishes until the bus has received the message. */
async function publishUntilReceived(from: NatsBus, at: NatsBus, message: BusMessage = A_MEMBER): Promise<void> {
  let count = 0;
  const stop = at.subscribe('members', () => void count++);
  await until(() => {
    from.publish(message);
    return count > 0;
  });
  stop();
}

describe.skipIf(isNatsMissing)('a bus over NATS', () => {
  let shared: NatsServer | undefined;
  afterAll(() => shared?.kill());
  busContract('of NATS', async () => {
    shared ??= await NatsServer.start();
    const options = { servers: [shared.url] };
    const onError = (error: unknown): void => expect.unreachable(String(error));
    const make = (): NatsBus => new NatsBus(options, () => Promise.resolve('contract'), onError, NEVER_MS);
    return [make(), make()];
  });

  it('reports a lost connection, drops messages meanwhile, and continues with the next server', async () => {
    const nats = await startNats();
    const errors: unknown[] = [];
    const [near, far] = [makeBus(nats.url, { errors }), makeBus(nats.url)];
    await publishUntilReceived(near, far);
    await nats.kill();
    await until(() => !near.state.isConnected && !far.state.isConnected);
    const { lost } = near.state;
    near.publish(A_MEMBER);
    expect(near.state).toEqual({ isConnected: false, reconnects: 0, lost: lost + 1 });
    expect(errors).toContainEqual(expect.objectContaining({ code: 'network-unreachable' }));
    let received = 0;
    far.subscribe('members', () => void received++);
    await nats.start();
    await until(() => near.state.isConnected && far.state.isConnected);
    await publishUntilReceived(near, far);
    expect(near.state.reconnects).toBe(1);
    expect(received).toBeGreaterThan(0);
  });

  it('is ready without NATS, and connects once a server is available, with the earlier subscriptions', async () => {
    const nats = await NatsServer.prepare();
    onTestFinished(() => nats.kill());
    const errors: unknown[] = [];
    const bus = makeBus(nats.url, { errors });
    let received = 0;
    bus.subscribe('members', () => void received++);
    await bus.ready();
    expect(bus.state.isConnected).toBe(false);
    expect(errors).toMatchObject([{ code: 'network-unreachable', fields: { problem: 'NATS' } }]);
    await nats.start();
    await until(() => {
      bus.publish(A_MEMBER);
      return received > 0;
    });
    expect(bus.state.isConnected).toBe(true);
  });

  it('connects once the store can be read, if it cannot at first', async () => {
    const nats = await startNats();
    const errors: unknown[] = [];
    const unavailable = new RockpoolError('database-unavailable');
    let isUp = false;
    const storeId = (): Promise<string> => (isUp ? Promise.resolve('store') : Promise.reject(unavailable));
    const bus = new NatsBus({ servers: [nats.url] }, storeId, (error) => void errors.push(error));
    onTestFinished(() => bus.close());
    await bus.ready();
    expect([bus.state.isConnected, errors]).toEqual([false, [unavailable]]);
    isUp = true;
    await publishUntilReceived(bus, makeBus(nats.url));
    expect(bus.state.isConnected).toBe(true);
  });

  it('connects once NATS accepts the password that it refused before', async () => {
    const refusing = await startNats('authorization { user: ann, password: old }');
    const accepting = await startNats('authorization { user: ann, password: new }');
    const link = await SlowLink.open(refusing.port, 0);
    onTestFinished(() => link.close());
    const bus = makeBus(`nats://ann:new@127.0.0.1:${link.port}`);
    await expect(bus.ready()).rejects.toMatchObject({ code: 'config-invalid' });
    link.to = accepting.port;
    await until(() => bus.state.isConnected);
  });

  it('refuses to start with a password that NATS rejects, and accepts the right one', async () => {
    const nats = await startNats('authorization { user: ann, password: "p w" }');
    const withPassword = (password: string): string => nats.url.replace('//', `//ann:${encodeURIComponent(password)}@`);
    await expect(makeBus(withPassword('wrong')).ready()).rejects.toMatchObject({
      code: 'config-invalid',
      fields: { problems: expect.stringContaining('NATS rejects') as string },
    });
    const bus = makeBus(withPassword('p w'));
    await bus.ready();
    expect(bus.state.isConnected).toBe(true);
  });

  it('accepts a token in place of the user', async () => {
    const nats = await startNats('authorization { token: "s3cret" }');
    const bus = makeBus(nats.url.replace('//', '//s3cret@'));
    await bus.ready();
    expect(bus.state.isConnected).toBe(true);
  });

  it('subscribes only to open databases of its own store', async () => {
    const nats = await startNats();
    const bus = makeBus(nats.url, { storeId: 's1' });
    await bus.ready();
    const stop = bus.subscribe({ databaseId: 'a' }, () => undefined);
    const stopAgain = bus.subscribe({ databaseId: 'a' }, () => undefined);
    const stopMembers = bus.subscribe({ databaseId: 'members' }, () => undefined);
    bus.subscribe('members', () => undefined);
    const subjects = async (count: number): Promise<string[]> => {
      for (;;) {
        const found = await nats.subjects();
        if (found.length === count) return found;
      }
    };
    expect(await subjects(3)).toEqual([
      'rockpool.s1.database.a',
      'rockpool.s1.database.members',
      'rockpool.s1.members',
    ]);
    stop();
    stopMembers();
    expect(await subjects(2)).toEqual(['rockpool.s1.database.a', 'rockpool.s1.members']);
    stopAgain();
    stopAgain();
    expect(await subjects(1)).toEqual(['rockpool.s1.members']);
  });

  it('receives nothing from another store, and ignores messages of other programs', async () => {
    const nats = await startNats();
    const errors: unknown[] = [];
    const [bus, other] = [makeBus(nats.url, { errors }), makeBus(nats.url, { storeId: 'other' })];
    const received: BusMessage[] = [];
    bus.subscribe({ databaseId: 'a' }, (message) => void received.push(message));
    await publishUntilReceived(bus, bus);
    const program = await connect({ servers: nats.url });
    for (const text of ['', 'null', '{"kind":"commit","databaseId":"a"}', '{"kind":"members","databaseId":"a"}'])
      program.publish('rockpool.store.database.a', text);
    await program.flush();
    await publishUntilReceived(other, other);
    other.publish({ kind: 'commit', databaseId: 'a', head: 1 });
    await publishUntilReceived(other, other);
    await publishUntilReceived(bus, bus);
    expect(received).toEqual([]);
    expect(errors).toHaveLength(4);
    await program.close();
  });

  it('reconnects after NATS has disconnected it as a slow consumer', async () => {
    const nats = await startNats('max_pending: 2000000\nwrite_deadline: "1s"');
    const link = await SlowLink.open(nats.port, 0);
    onTestFinished(() => link.close());
    const [fast, slow] = [makeBus(nats.url), makeBus(`nats://127.0.0.1:${link.port}`, { pingIntervalMs: 200 })];
    slow.subscribe({ databaseId: 'a' }, () => undefined);
    await publishUntilReceived(fast, slow);
    link.fallSilent();
    while ((await nats.slowConsumers()) === 0) for (let i = 0; i < 500; i++) fast.publish(LARGE);
    await until(() => slow.state.reconnects > 0);
    await publishUntilReceived(fast, slow);
    expect(fast.state).toEqual({ isConnected: true, reconnects: 0, lost: expect.any(Number) as number });
  });
});

it.each([
  ['nats://host', null],
  ['tls://ann:secret@host:4222', null],
  ['http://host:4222', 'a URL such as nats://user:password@host:4222'],
  ['host:4222', 'a URL such as nats://user:password@host:4222'],
  ['nats://host:4222/prefix', 'a URL such as nats://user:password@host:4222'],
])('checks the URL %s', (url, problem) => {
  expect(natsUrlProblem(url)).toBe(problem);
});
