import type { PoolClient } from 'pg';
import { RockpoolError } from '@rockpool/shared';
import { expect, it, vi } from 'vitest';
import { Connections } from '../postgres/connection.ts';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { SlowLink } from '../../testing/slow-link.ts';
import { until } from '../../../../tests/kit/until.ts';
import { busContract } from './bus.contract.ts';
import type { BusMessage } from './bus.ts';
import { PostgresBus } from './postgres-bus.ts';

const postgres = postgresUnderTest();

/** Longer than a test may take. */
const NEVER_MS = 3_600_000;

interface BusDeadlines {
  readonly answerDeadlineMs?: number;
  readonly pollDeadlineMs?: number;
  readonly probeIntervalMs?: number;
}

async function makeBus(
  url: string,
  errors: unknown[] = [],
  { answerDeadlineMs = NEVER_MS, pollDeadlineMs = NEVER_MS, probeIntervalMs = NEVER_MS }: BusDeadlines = {},
): Promise<PostgresBus> {
  const connections = new Connections(url, { answerDeadlineMs, pollDeadlineMs });
  const bus = new PostgresBus(connections, (error) => void errors.push(error), probeIntervalMs);
  const close = bus.close.bind(bus);
  bus.close = async () => {
    await close();
    await connections.close();
  };
  return bus;
}

/** Publishes until the bus itself has received the message. */
async function publishUntilReceived(bus: PostgresBus, databaseId: string): Promise<void> {
  let isReceived = false;
  const stop = bus.subscribe('members', (message) => void (isReceived ||= message.databaseId === databaseId));
  while (!isReceived) {
    bus.publish({ kind: 'members', databaseId });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  stop();
}

busContract('of PostgreSQL', async () => {
  const { url } = await postgres.server.createDatabase();
  return [await makeBus(url), await makeBus(url)];
});

it('a bus over PostgreSQL listens again after its connection ended, and ignores messages of other programs', async () => {
  const { url, name } = await postgres.server.createDatabase();
  const errors: unknown[] = [];
  const bus = await makeBus(url, errors);
  await publishUntilReceived(bus, 'before');
  await postgres.server.query(name, `SELECT pg_notify('rockpool', 'not a message')`);
  await postgres.server.query(
    name,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
  );
  await publishUntilReceived(bus, 'after');
  expect(bus.state).toMatchObject({ isConnected: true, reconnects: 1 });
  expect(errors.length).toBeGreaterThanOrEqual(2);
  await bus.close();
});

it('a bus over PostgreSQL listens again after its connection fell silent without being closed', async () => {
  const link = await SlowLink.open(postgres.server.port, 0, postgres.server.host);
  const { name } = await postgres.server.createDatabase();
  const errors: unknown[] = [];
  const bus = await makeBus(postgres.server.urlOf(name, link.port), errors, {
    pollDeadlineMs: 1_000,
    probeIntervalMs: 500,
  });
  await publishUntilReceived(bus, 'before');
  link.fallSilent();
  await publishUntilReceived(bus, 'after');
  expect(bus.state.reconnects).toBeGreaterThanOrEqual(1);
  expect(errors).toContainEqual(new Error('Query read timeout'));
  await bus.close();
  await link.close();
});

it('a bus over PostgreSQL is not connected behind a pooler that shares connections between transactions', async () => {
  const { url } = await postgres.server.createDatabase();
  const connections = new Connections(url);
  const connect = connections.connect.bind(connections);
  let listening: PoolClient | undefined;
  vi.spyOn(connections, 'connect').mockImplementation(async () => (listening = await connect()));
  // As such a pooler does, sends the statement through the connection that is free.
  vi.spyOn(connections, 'poll').mockImplementation(
    async (text, values = []) =>
      (await listening?.query<unknown[]>({ text, values: [...values], rowMode: 'array' }))?.rows ?? [],
  );
  // Whether the bus counts as connected when it reports the pooler. A busy machine may report other errors before.
  let isConnected: boolean | null = null;
  const onError = (error: unknown): void => {
    if (error instanceof RockpoolError && error.code === 'config-invalid') ({ isConnected } = bus.state);
  };
  const bus = new PostgresBus(connections, onError, 10);
  await until(() => {
    bus.publish({ kind: 'members', databaseId: 'a' });
    return isConnected !== null;
  });
  expect(isConnected).toBe(false);
  await bus.close();
  await connections.close();
});

it('a bus over PostgreSQL closes a connection on which LISTEN fails, such as one to a standby before failover', async () => {
  const { url } = await postgres.server.createDatabase();
  const connections = new Connections(url, { maxConnections: 2 });
  const connect = connections.connect.bind(connections);
  let refusals = 2;
  vi.spyOn(connections, 'connect').mockImplementation(async () => {
    const client = await connect();
    if (refusals-- > 0)
      client.query = (() => Promise.reject(new Error('cannot execute LISTEN during recovery'))) as never;
    return client;
  });
  const bus = new PostgresBus(connections, () => undefined);
  const received: BusMessage[] = [];
  bus.subscribe('members', (message) => void received.push(message));
  while (received.length === 0) {
    if (refusals < 0) bus.publish({ kind: 'members', databaseId: 'household' });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(await connections.query('SELECT 1')).toEqual([[1]]);
  await bus.close();
  await connections.close();
});
