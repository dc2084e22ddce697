import { readdirSync, writeFileSync, type PathLike } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Writable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { openDatabaseFile } from '../store/database-file.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { writePlainSnapshot, writeSnapshot } from './write-snapshot.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

// A disk with room for one more byte.
vi.mock('node:fs', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs')>()),
  createWriteStream: (path: PathLike) =>
    new Writable({
      write(chunk: Uint8Array, _encoding, done) {
        writeFileSync(path, chunk.subarray(0, 1));
        done(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
      },
    }),
}));

const folder = temporaryFolder();

it('writing a snapshot removes its partial files if the disk is full', async () => {
  const from = join(folder, 'a.sqlite');
  openDatabaseFile(from, TEST_SCHEMA).sql.close();
  await expect(writeSnapshot(from, join(folder, 'snapshot.gz'))).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(readdirSync(folder).filter((name) => name.startsWith('snapshot'))).toEqual([]);
});

it('a snapshot has JSON that was stored before its column became a document in the form of deliveries', () => {
  const [from, to] = [join(folder, 'raw.sqlite'), join(folder, 'raw-snapshot.sqlite')];
  const { sql } = openDatabaseFile(from, TEST_SCHEMA);
  const raw = '{"b":1, "a":2}';
  sql.run('INSERT INTO pages (id, title, content) VALUES (?, ?, ?)', 'p', raw, raw);
  sql.close();
  writePlainSnapshot(from, to);
  const file = new DatabaseSync(to, { returnArrays: true });
  expect(file.prepare('SELECT id, title, content FROM pages').all()).toEqual([['p', raw, '{"a":2,"b":1}']]);
  file.close();
});
