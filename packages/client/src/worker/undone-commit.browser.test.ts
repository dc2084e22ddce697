import { encodeSchema } from '@rockpool/shared';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, expect, it, vi } from 'vitest';
import { decodeRows } from '../rpc/rows-transfer.ts';
import type { WorkerApi, WorkerEvent } from '../rpc/worker-api.ts';
import { newId } from '../new-id.ts';
import { defineSchema } from '../schema/define-schema.ts';
import { freshName, until } from '../../testing/browser-tabs.ts';
import { BROWSER } from './browser-environment.ts';
import { createHost } from './host.ts';

// Runs IndexedDB in a page, where the test can make it fail.
const schema = encodeSchema(defineSchema({ note: sqliteTable('note', { id: text().primaryKey() }) }));
const hosts: WorkerApi[] = [];

async function openHost(name: string): Promise<{ readonly host: WorkerApi; readonly events: WorkerEvent[] }> {
  const host = createHost(BROWSER);
  const events: WorkerEvent[] = [];
  await host.open(
    { name, schema, migrations: null, sync: null, durability: 'relaxed', persistence: 'indexeddb' },
    { onEvent: (event) => void events.push(event), token: async () => '' },
  );
  hosts.push(host);
  return { host, events };
}

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

/** Fails like a browser whose quota is used up: the puts are accepted, and then the transaction aborts. */
function refuseCommits(): void {
  vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
    Object.defineProperty(this, 'error', { value: new DOMException('', 'QuotaExceededError') });
    this.abort();
  });
}

const write = (host: WorkerApi, id: string): Promise<unknown> =>
  host.write([{ sql: 'INSERT INTO note VALUES (?)', params: [id] }], undefined, newId());
const ids = async (host: WorkerApi): Promise<unknown[]> =>
  decodeRows(await host.query({ sql: 'SELECT id FROM note ORDER BY id', params: [] })).map(({ id }) => id);

it('a write that IndexedDB refuses after its COMMIT fails with a code, in the leader and in a follower, and is never visible', async () => {
  const name = freshName();
  const { host: leader } = await openHost(name);
  const { host: follower, events } = await openHost(name);
  await write(leader, 'kept');
  await follower.watch(1, { sql: 'SELECT id FROM note', params: [] });
  const results = (): WorkerEvent[] => events.filter(({ kind }) => kind === 'live');
  await until(() => results().length === 1);

  refuseCommits();
  const refused = [write(leader, 'a'), write(follower, 'b')];
  const read = ids(leader);
  await Promise.all(
    refused.map((writing) => expect(writing).rejects.toMatchObject({ code: 'storage-full', recovery: 'free-space' })),
  );
  expect(await read).toEqual(['kept']);
  expect(await ids(follower)).toEqual(['kept']);
  expect(results()).toHaveLength(1);

  vi.restoreAllMocks();
  await write(follower, 'c');
  for (const host of [leader, follower]) expect(await ids(host)).toEqual(['c', 'kept']);
});
