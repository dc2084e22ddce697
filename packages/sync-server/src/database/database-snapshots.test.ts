import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { DatabaseSnapshots } from './database-snapshots.ts';
import { LiveDatabase } from './live-database.ts';

it('a stopping server does not check the rest of a file before a snapshot', async () => {
  const dataDir = temporaryFolder();
  const path = join(dataDir, 'a.sqlite');
  const { sql } = openDatabaseFile(path, TEST_SCHEMA, { databaseId: 'a' });
  // The damage is behind the first slice of the check.
  sql.exec('CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (randomblob(3000000))');
  sql.close();
  const bytes = readFileSync(path);
  const damaged = bytes.length - 10;
  bytes[damaged] = (bytes[damaged] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const live = new LiveDatabase(openDatabaseFile(path, TEST_SCHEMA, { databaseId: 'a' }), {
    onFailure: () => undefined,
  });
  const offline: string[] = [];
  const snapshots = new DatabaseSnapshots({
    ...{ dataDir, store: { pathOf: () => path }, rules: { minFileBytes: 0, maxTailChangesets: 0 } },
    databases: { get: () => Promise.resolve(live), takeOffline: (databaseId) => void offline.push(databaseId) },
  });
  const get = (): Promise<unknown> => snapshots.get('a', TEST_SCHEMA.hash, 'everything');
  await expect(get()).rejects.toMatchObject({ code: 'database-damaged' });
  expect(offline).toEqual(['a']);
  const asked = get().catch((error: unknown) => error);
  // The check begins without any input or output, and has then read a slice at most.
  await new Promise((resolve) => process.nextTick(resolve));
  await snapshots.close();
  expect(await asked).toMatchObject({ code: 'database-unavailable' });
  expect(offline).toEqual(['a']);
  await live.close();
});
