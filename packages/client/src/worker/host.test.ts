import { memoryMedium } from '@rockpool/vfs-opfs';
import { expect, it } from 'vitest';
import { MEMORY_OPTIONS, memoryHost } from '../../testing/worker/memory-host.ts';
import { ProcessTabs } from '../node/process-tabs.ts';
import type { TabApi } from '../rpc/worker-api.ts';
import type { ChosenMedium } from './storage/choose-medium.ts';

const PAGE: TabApi = { onEvent: () => undefined, token: () => Promise.reject(new Error('no server')) };

it('a worker whose page is left before it knows its storage holds up no other tab, and opens when the page is back', async () => {
  const tabs = new ProcessTabs();
  const shared = { locks: tabs.locks, openPort: (name: string) => tabs.openPort(name) };
  const place: ChosenMedium = { persistence: 'memory', medium: memoryMedium() };
  const storage = Promise.withResolvers<ChosenMedium>();
  const left = memoryHost({ ...shared, chooseMedium: () => storage.promise });
  const other = memoryHost({ ...shared, chooseMedium: () => Promise.resolve(place) });

  const opening = left.open(MEMORY_OPTIONS, PAGE);
  const suspended = left.suspend();
  storage.resolve(place);
  await Promise.all([opening, suspended]);
  expect((await other.open(MEMORY_OPTIONS, PAGE)).status.role).toBe('leader');

  await left.resume();
  await other.write(
    [{ sql: 'INSERT INTO account (id, name) VALUES (?, ?)', params: ['a', 'a'] }],
    undefined,
    'request',
  );
  expect(await left.query({ sql: 'SELECT id FROM account', params: [] })).toMatchObject({ rowCount: 1 });
  await Promise.all([left.close(), other.close()]);
});
