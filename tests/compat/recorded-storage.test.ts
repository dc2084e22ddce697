import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryMedium, openStorage } from '#vfs-opfs/index.ts';
import { decodeSchema } from '#shared/index.ts';
import { Connection } from '#client/worker/sqlite/connection.ts';
import { STORAGE_FORMAT as CLIENT_FORMAT } from '#client/worker/file/internal-tables.ts';
import { openStored, testRuntime } from '#client/testing/worker/test-database.ts';
import { testSync } from '#client/testing/worker/sync-steps.ts';
import { hasTakenEffect } from '#sync-server/log/origins.ts';
import { SqliteFile } from '#sync-server/sqlite/sqlite-file.ts';
import { STORAGE_FORMAT as SERVER_FORMAT } from '#sync-server/sqlite/internal-tables.ts';
import { openDatabaseFile } from '#sync-server/store/database-file.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

/** Files that released versions wrote, as SQL. They never change. */
const recordedSql = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

describe('a recorded client file of storage format 5', () => {
  it('opens, keeps its rows and pending changesets, and gives the changesets an origin', async () => {
    const medium = memoryMedium();
    const storage = await openStorage({ name: 'test', medium, role: 'writer' });
    storage.register(testRuntime.module);
    const recorded = new Connection(testRuntime, { path: storage.path, vfsName: storage.vfsName });
    recorded.exec('PRAGMA page_size = 8192');
    recorded.exec(recordedSql('client-storage-5.sql'));
    const schemaJson = recorded.value("SELECT value FROM rockpool_meta WHERE key = 'schema_json'") as string;
    recorded.close();
    await storage.close();
    const { database, close } = await openStored(medium, { schema: decodeSchema(schemaJson) });
    expect(database.meta.get('storage_format')).toBe(CLIENT_FORMAT);
    expect(database.connection.rows('SELECT id, amount FROM account ORDER BY id').flat()).toEqual([
      'a',
      1,
      'b',
      1,
      'd',
      1,
      'e',
      1,
      'z',
      5,
    ]);
    expect(database.rejected.list()).toMatchObject([
      { changeset: { sequence: 3 }, error: { code: 'constraint-check' } },
    ]);
    const { siteId } = database;
    const hash = database.changelog.hashOf(4);
    expect(database.outbox.nextPush(3, 1e9)?.changesets.map(({ origin }) => origin)).toEqual([undefined, undefined]);
    testSync(database).becomeNewSite(4);
    expect(database.outbox.nextPush(0, 1)?.changesets).toMatchObject([{ origin: { siteId, sequence: 4, hash } }]);
    await close();
  });
});

describe('a recorded server file of storage format 8', () => {
  it('opens, keeps its rows, and recognizes its admitted changesets as origins', () => {
    const folder = temporaryFolder();
    try {
      const path = join(folder, 'recorded.sqlite');
      const recorded = new SqliteFile(path);
      recorded.exec(recordedSql('server-storage-8.sql'));
      const schemaJson = recorded.get(`SELECT value FROM rockpool_meta WHERE name = 'schema'`)?.[0] as string;
      recorded.close();
      const { sql } = openDatabaseFile(path, decodeSchema(schemaJson));
      expect(sql.get(`SELECT value FROM rockpool_meta WHERE name = 'storage_format'`)).toEqual([String(SERVER_FORMAT)]);
      expect(sql.all('SELECT stock, name FROM products')).toEqual([[7n, 'green tea']]);
      const isKnown = (sequence: bigint): boolean => {
        const [siteId, hash] = sql.get(
          'SELECT site, hash FROM rockpool_outcome JOIN rockpool_site ON number = site_number WHERE number = 1 AND sequence = ?',
          sequence,
        ) as [Uint8Array, Uint8Array];
        return hasTakenEffect(sql, { siteId, sequence: Number(sequence), hash });
      };
      // The third was rejected.
      expect([1n, 2n, 3n].map(isKnown)).toEqual([true, true, false]);
      sql.close();
    } finally {
    }
  });
});
