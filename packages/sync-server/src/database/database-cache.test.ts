import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RETENTION } from '../log/retention.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { databaseFileName, databaseIds } from '../store/data-directory.ts';
import { SqliteStore } from '../store/sqlite-store.ts';
import { DatabaseCache } from './database-cache.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

describe('the open databases', () => {
  it('are one per id, even on a case-insensitive file system', async () => {
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

  it('are closed, least recently used first, when too many are idle', async () => {
    const cache = new DatabaseCache({
      store: new SqliteStore(folder, TEST_SCHEMA),
      retention: RETENTION,
      onFailure: () => undefined,
      maxIdleDatabases: 2,
    });
    const a = await cache.get('a');
    const b = await cache.get('b');
    for (const databaseId of ['a', 'c']) await cache.get(databaseId);
    await vi.waitFor(() => expect(cache.count).toBe(2));
    expect((await cache.get('a')) === a).toBe(true);
    expect((await cache.get('b')) === b).toBe(false);
    expect(() => b.file.sql.get('SELECT 1')).toThrow();
    await cache.closeAll();
  });

  it('are opened and closed one per turn of the event loop, so that sessions are served in between', async () => {
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
