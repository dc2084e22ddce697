import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, expect, it } from 'vitest';
import { sumsPath } from './page-sums.ts';
import { WalCheckpointer } from './wal-checkpointer.ts';
import { verifyPages } from '../store/verify-pages.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
});

it('a WAL checkpoint leaves pages that match their checksums if a power cut during it loses the log', async () => {
  const [path, afterCut] = [join(folder, 'a.sqlite'), join(folder, 'cut.sqlite')];
  const database = new DatabaseSync(path, { readBigInts: true, returnArrays: true });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE t (a)');
  let cuts = 0;
  // Until the log is synced, a power cut may lose all of it and leave the synced files: the database and the checksums.
  const log = new WalCheckpointer(path, database, () => {
    cuts++;
    copyFileSync(path, afterCut);
    copyFileSync(sumsPath(path), sumsPath(afterCut));
  });
  database.exec('INSERT INTO t VALUES (1)');
  log.checkpoint();
  database.exec('INSERT INTO t VALUES (2)');
  log.checkpoint();
  expect(cuts).toBe(2);
  expect((await verifyPages(afterCut)).damaged).toEqual([]);
  log.close(true);
  database.close();
});
