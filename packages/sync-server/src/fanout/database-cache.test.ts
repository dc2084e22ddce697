import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RETENTION } from '../log/retention.ts';
import { temporaryFolder } from '../testing/test-server.ts';
import { TEST_SCHEMA } from '../testing/test-schema.ts';
import { databaseFileName, databaseIds } from '../store/data-directory.ts';
import { DatabaseCache } from './database-cache.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe('the open databases', () => {
  it('are one for each id, also where the file system ignores case', () => {
    expect(databaseFileName('aB')).not.toBe(databaseFileName('ab'));
    expect(databaseFileName('aB').toLowerCase()).not.toBe(databaseFileName('ab').toLowerCase());
    const cache = new DatabaseCache({ dataDir: folder.path, schema: TEST_SCHEMA, retention: RETENTION, onFailure: () => undefined });
    expect(cache.get('a')).toBe(cache.get('a'));
    expect(cache.get('a')).not.toBe(cache.get('A'));
    cache.closeAll();
    expect(readdirSync(join(folder.path, 'databases')).sort()).toEqual(['db-a.sqlite', 'db-~a.sqlite']);
    expect(databaseIds(folder.path)).toEqual(['A', 'a']);
  });

  it('are closed when many are idle, the least recently used first', () => {
    const cache = new DatabaseCache({ dataDir: folder.path, schema: TEST_SCHEMA, retention: RETENTION, onFailure: () => undefined, maxIdleFiles: 2 });
    const a = cache.get('a');
    const b = cache.get('b');
    cache.get('a');
    cache.get('c');
    cache.get('d');
    expect(cache.get('a')).toBe(a);
    expect(cache.get('b')).not.toBe(b);
    expect(() => b.file.sql.get('SELECT 1')).toThrow();
    cache.closeAll();
  });
});
