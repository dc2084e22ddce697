import { createClient, type Client, type ErrorData, type SyncStatus } from '@rockpool/client';
import { RockpoolProvider } from '@rockpool/client/react';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addAccount } from '../accounts/actions.ts';
import { schema } from '../schema.ts';
import { WaitingList } from './waiting-list.tsx';

const UNREACHABLE = { url: 'ws://127.0.0.1:9', databaseId: 'budget', token: (): string => 'unused' };

let app: InApp;
let client: Client;

beforeEach(async () => {
  app = await inApp();
  client = await createClient({
    name: `waiting-${crypto.randomUUID()}`,
    schema,
    persistence: 'memory',
    sync: UNREACHABLE,
  });
});

afterEach(async () => {
  await app.close();
  await client.close();
});

/** The client, with the status that follows a refusal of the server. */
function refused(reason: Pick<ErrorData, 'code' | 'fields'>): Client {
  const known = new WeakMap<SyncStatus, SyncStatus>();
  const { status } = client;
  const blocked = (current: SyncStatus): SyncStatus => {
    const shown = known.get(current) ?? {
      ...current,
      state: 'blocked',
      reason: { ...reason, recovery: 'ask-user', message: '' },
    };
    known.set(current, shown);
    return shown;
  };
  return {
    ...client,
    status: {
      subscribe: (listener) => status.subscribe(listener),
      get current() {
        return blocked(status.current);
      },
    },
  };
}

function show(reason: Pick<ErrorData, 'code' | 'fields'>): void {
  app.show(
    'sync',
    <RockpoolProvider client={refused(reason)}>
      <WaitingList />
    </RockpoolProvider>,
  );
}

const cards = (): HTMLElement[] => [...app.container.querySelectorAll<HTMLElement>('li.card')];

async function addAccounts(count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    await addAccount(client, { name: `Account ${i}`, kind: 'checking', currency: 'EUR', openingMinor: 0 });
}

it('a change that is taken back leaves the list before the server has decided it', async () => {
  await addAccounts(22);
  show({ code: 'quota-exceeded', fields: { quota: 'database-bytes' } });
  await expect.poll(() => cards().length).toBe(20);
  expect(app.container.textContent).toContain('Only the oldest 20 are listed.');
  for (const next of ['Account 1', 'Account 2']) {
    cards()[0]?.querySelector('button')?.click();
    await expect.poll(() => cards()[0]?.textContent).toContain(next);
  }
  expect(client.status.current.pendingCount).toBe(22);
  expect(cards()).toHaveLength(20);
  expect(app.container.textContent).not.toContain('Only the oldest');
});

it('changes are not offered to be taken back beyond the limit of sites, because each costs one', async () => {
  await addAccounts(1);
  show({ code: 'auth-forbidden', fields: {} });
  await expect.poll(() => cards().length).toBe(1);
  show({ code: 'quota-exceeded', fields: { quota: 'sites' } });
  await expect.poll(() => cards().length).toBe(0);
});
