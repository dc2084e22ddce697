import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { databasePath } from './data-directory.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { storeContract } from './store.contract.ts';
import { SqliteStore } from './sqlite-store.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

storeContract('SQLite', async () => {
  const folder = temporaryFolder();
  return { open: (schema) => new SqliteStore(folder, schema), close: async () => undefined };
});

it('the SQLite store makes the log of a killed server durable before any client sees its commits', async () => {
  const [killed, next] = [temporaryFolder(), temporaryFolder()];
  const events = { onLost: (error: unknown) => expect.unreachable(String(error)) };
  const database = new SqliteStore(killed, TEST_SCHEMA).open('a', events);
  // Killed before the log is synced: the operating system has the writes, the disk perhaps none of them.
  const committing = database.commit(() => database.file.sql.run(`INSERT INTO notes (id, reads) VALUES ('n', 0)`));
  const store = new SqliteStore(next, TEST_SCHEMA);
  for (const suffix of ['', '-wal']) copyFileSync(databasePath(killed, 'a') + suffix, databasePath(next, 'a') + suffix);
  await committing;
  database.close();
  const again = store.open('a', events);
  expect(again.settling()).toBeNull();
  const withoutLog = join(next, 'without-log.sqlite');
  copyFileSync(databasePath(next, 'a'), withoutLog);
  const left = new SqliteFile(withoutLog);
  expect(left.all('SELECT id FROM notes')).toEqual([['n']]);
  left.close();
  again.close();
});
