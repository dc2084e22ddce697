import { buildSchema, encodeSchema } from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { expect, it } from 'vitest';
import { ProcessTabs } from '../node/process-tabs.ts';
import type { OpenOptions, TabApi } from '../rpc/worker-api.ts';
import { testTable } from '../../testing/worker/table-schema.ts';
import { createHost } from './host.ts';
import { loadSqlite } from './sqlite/load-sqlite.node.ts';
import type { ChosenMedium } from './storage/choose-medium.ts';
import type { WorkerEnvironment } from './worker-environment.ts';

const OPTIONS: OpenOptions = {
  name: 'left',
  schema: encodeSchema(buildSchema([testTable('page', { id: 'text not null' })])),
  migrations: null,
  sync: null,
  durability: 'relaxed',
  persistence: 'memory',
};

const PAGE: TabApi = { onEvent: () => undefined, token: () => Promise.reject(new Error('no server')) };

it('a worker whose page is left before it knows its storage holds up no other tab, and opens when the page is back', async () => {
  const tabs = new ProcessTabs();
  const place: ChosenMedium = { persistence: 'memory', medium: memoryMedium() };
  const storage = Promise.withResolvers<ChosenMedium>();
  const environment: WorkerEnvironment = {
    locks: tabs.locks,
    openPort: (channelName) => tabs.openPort(channelName),
    requireTabSupport: () => undefined,
    loadSqlite,
    chooseMedium: async () => place,
    scopeOf: (name) => name,
    places: async () => [place],
  };
  const left = createHost({ ...environment, chooseMedium: () => storage.promise });
  const other = createHost(environment);

  const opening = left.open(OPTIONS, PAGE);
  const suspended = left.suspend();
  storage.resolve(place);
  await Promise.all([opening, suspended]);
  expect((await other.open(OPTIONS, PAGE)).status.role).toBe('leader');

  await left.resume();
  await other.write([{ sql: 'INSERT INTO page VALUES (?)', params: ['a'] }], undefined, 'request');
  expect(await left.query({ sql: 'SELECT id FROM page', params: [] })).toMatchObject({ rowCount: 1 });
  await Promise.all([left.close(), other.close()]);
});
