import { createClient, type Client } from '@rockpool/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rememberNothing } from '../budget/device-items.ts';
import { schema } from '../schema.ts';
import { endReconnect, pauseByUser, reconnect } from './reconnect.ts';

const BUDGET = 'ab'.repeat(16);
let client: Client;

beforeEach(async () => {
  rememberNothing();
  client = await createClient({
    name: `reconnect-${crypto.randomUUID()}`,
    schema,
    persistence: 'memory',
    // No server is needed: a pause is stored on the device.
    sync: { url: 'ws://127.0.0.1:9/sync', databaseId: BUDGET, token: () => 'token' },
  });
});

afterEach(() => client.close());

const state = (): string => client.status.current.state;

/** Ends between the pause and the resumption, like a tab that closes. */
async function beginReconnect(): Promise<void> {
  const paused = Promise.withResolvers<void>();
  const { promise: never } = Promise.withResolvers<void>();
  const resume = (): Promise<void> => {
    paused.resolve();
    return never;
  };
  void reconnect({ sync: { ...client.sync, pause: () => client.sync.pause(), resume } }, BUDGET);
  await paused.promise;
  await expect.poll(state).toBe('paused');
}

it('sync that a closed tab left paused while reconnecting is resumed by the next one', async () => {
  await beginReconnect();
  await endReconnect(client, 'another budget');
  expect(state()).toBe('paused');
  await endReconnect(client, BUDGET);
  await expect.poll(state).not.toBe('paused');
});

it('sync that the user paused stays paused', async () => {
  await beginReconnect();
  await pauseByUser(client, BUDGET);
  await endReconnect(client, BUDGET);
  expect(state()).toBe('paused');
  await client.sync.resume();
  await reconnect(client, BUDGET);
  await expect.poll(state).not.toBe('paused');
  await client.sync.pause();
  await expect.poll(state).toBe('paused');
  await endReconnect(client, BUDGET);
  expect(state()).toBe('paused');
});
