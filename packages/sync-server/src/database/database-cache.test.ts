import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RockpoolError } from '@rockpool/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { followChanges } from '../backend/change-feed.ts';
import { RETENTION } from '../log/retention.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { databaseFileName, databaseIds } from '../store/data-directory.ts';
import { SqliteStore } from '../store/sqlite-store.ts';
import type { StoreEvents } from '../store/store.ts';
import { DatabaseCache } from './database-cache.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

describe('the open databases', () => {
  it('have one entry per id, even on a case-insensitive file system', async () => {
    expect(databaseFileName('aB')).not.toBe(databaseFileName('ab'));
    expect(databaseFileName('aB').toLowerCase()).not.toBe(databaseFileName('ab').toLowerCase());
    const cache = new DatabaseCache({
      store: new SqliteStore(folder, TEST_SCHEMA),
      retention: RETENTION,
      onFailure: () => undefined,
    });
    const [first, second, other] = await Promise.all(['a', 'a', 'A'].map((databaseId) => cache.get(databaseId)));
    expect(first).toBe(second);
    expect(first).not.toBe(other);
    await cache.closeAll();
    expect(readdirSync(join(folder, 'databases')).sort()).toEqual([
      'db-a.sqlite',
      'db-a.sqlite-sums',
      'db-~a.sqlite',
      'db-~a.sqlite-sums',
    ]);
    expect(databaseIds(folder)).toEqual(['A', 'a']);
  });

  it('are opened again if the disk failed while they were being opened', async () => {
    const store = new SqliteStore(folder, TEST_SCHEMA);
    const failures: unknown[] = [];
    let isFailing = true;
    const cache = new DatabaseCache({
      store: Object.assign(Object.create(store) as SqliteStore, {
        open(databaseId: string, events: StoreEvents) {
          const opened = store.open(databaseId, events);
          if (isFailing) events.onLost(new Error('EIO'));
          return opened;
        },
      }),
      retention: RETENTION,
      onFailure: (_, error) => void failures.push(error),
    });
    await expect(cache.get('a')).rejects.toMatchObject({ code: 'database-unavailable' });
    expect([failures.length, cache.count]).toEqual([1, 0]);
    isFailing = false;
    expect((await cache.get('a')).file.sql.get('SELECT 1')).toEqual([1n]);
    await cache.closeAll();
  });

  it('are closed if the backup cannot copy them, and opened again by the next session', async () => {
    const attached: string[] = [];
    const failures: unknown[] = [];
    const cache = new DatabaseCache({
      store: new SqliteStore(folder, TEST_SCHEMA),
      retention: RETENTION,
      onFailure: (_, error) => void failures.push(error),
      backup: {
        attach: (databaseId) => {
          if (attached.push(databaseId) === 1) throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
        },
        isPending: () => false,
      },
    });
    await expect(cache.get('a')).rejects.toMatchObject({ code: 'database-unavailable' });
    expect([failures.length, cache.count]).toEqual([1, 0]);
    expect((await cache.get('a')).file.sql.get('SELECT 1')).toEqual([1n]);
    expect(attached).toEqual(['a', 'a']);
    await cache.closeAll();
  });

  it('are closed, least recently used first, if too many are idle', async () => {
    const cache = new DatabaseCache({
      store: new SqliteStore(folder, TEST_SCHEMA),
      retention: RETENTION,
      onFailure: () => undefined,
      maxIdleDatabases: 2,
    });
    const a = await cache.get('a');
    const b = await cache.get('b');
    for (const databaseId of ['a', 'c']) await cache.get(databaseId);
    await expect.poll(() => cache.count).toBe(2);
    expect((await cache.get('a')) === a).toBe(true);
    expect((await cache.get('b')) === b).toBe(false);
    expect(() => b.file.sql.get('SELECT 1')).toThrow();
    await cache.closeAll();
  });

  it('stay open while the backup has not copied them, up to four times the maximum', async () => {
    const cache = new DatabaseCache({
      store: new SqliteStore(folder, TEST_SCHEMA),
      retention: RETENTION,
      onFailure: () => undefined,
      maxIdleDatabases: 1,
      backup: { attach: () => undefined, isPending: (databaseId) => databaseId !== 'copied' },
    });
    const opened = new Map<string, unknown>();
    for (const databaseId of ['a', 'b', 'c', 'copied']) opened.set(databaseId, await cache.get(databaseId));
    await expect.poll(() => cache.count).toBe(3);
    for (const databaseId of ['a', 'b', 'c'])
      expect((await cache.get(databaseId)) === opened.get(databaseId)).toBe(true);
    for (const databaseId of ['d', 'e']) await cache.get(databaseId);
    await expect.poll(() => cache.count).toBe(4);
    expect((await cache.get('a')) === opened.get('a')).toBe(false);
    await cache.closeAll();
  });

  it('are opened and closed one per turn of the event loop, and sessions are served between the turns', async () => {
    const cache = new DatabaseCache({
      store: new SqliteStore(folder, TEST_SCHEMA),
      retention: RETENTION,
      onFailure: () => undefined,
      maxIdleDatabases: 0,
    });
    const using = new AbortController();
    const opened = Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const database = await cache.get(`d${index}`);
        void database.nextCommit(using.signal);
      }),
    );
    const counts = [cache.count];
    const watch = async (until: number): Promise<void> => {
      while (cache.count !== until) {
        await new Promise((resolve) => setImmediate(resolve));
        counts.push(cache.count);
      }
    };
    await watch(6);
    await opened;
    using.abort();
    await cache.get('d0');
    await watch(0);
    const steps = counts.slice(1).map((count, index) => Math.abs(count - (counts[index] ?? 0)));
    expect(Math.max(...steps)).toBe(1);
  });
});

describe('a held database', () => {
  const error = new RockpoolError('database-unavailable', { problem: 'held' });
  const open = (): DatabaseCache =>
    new DatabaseCache({
      store: new SqliteStore(folder, TEST_SCHEMA),
      retention: RETENTION,
      onFailure: () => undefined,
    });

  it('is not created', async () => {
    const cache = open();
    await cache.hold('a', error);
    await expect(cache.get('a')).rejects.toBe(error);
    expect(databaseIds(folder)).toEqual([]);
    expect(cache.count).toBe(0);
    await cache.get('b');
    cache.release('a');
    await cache.get('a');
    expect(databaseIds(folder)).toEqual(['a', 'b']);
    await cache.closeAll();
  });

  it('is not returned to callers that were waiting for it to open', async () => {
    const cache = open();
    const opening = cache.get('a');
    const thrown = opening.then(
      () => null,
      (failure: unknown) => failure,
    );
    await cache.hold('a', error);
    expect(await thrown).toBe(error);
    expect(cache.count).toBe(0);
    await cache.closeAll();
  });

  it('is not joined by sessions that received it before it was held', async () => {
    const cache = open();
    const live = await cache.get('a');
    await cache.hold('a', error);
    await expect(live.catchUp()).rejects.toBe(error);
    expect(() => live.join({} as never, {} as never, {} as never)).toThrow(error);
    expect(() => live.file.sql.get('SELECT 1')).toThrow();
    await cache.closeAll();
  });

  it('ends a change feed with the error, even if it is released at once', async () => {
    const cache = open();
    const following = followChanges(() => cache.get('a'), null, new AbortController().signal);
    await following.next();
    const next = following.next();
    const ended = next.catch((failure: unknown) => failure);
    await new Promise((resolve) => setImmediate(resolve));
    await cache.hold('a', error);
    cache.release('a');
    expect(await ended).toBe(error);
    await cache.closeAll();
  });
});
