import { readdirSync, writeFileSync, type PathLike } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { openDatabaseFile } from '../store/database-file.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { writeSnapshot } from './write-snapshot.ts';
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
