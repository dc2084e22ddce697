import { mkdirSync, readdirSync, renameSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { describeDestination } from './destination.contract.ts';
import { FolderDestination } from './folder-destination.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

describeDestination('a folder', {
  open: () => new FolderDestination(join(folder, 'made', 'here')),
  breakNow: () => {
    writeFileSync(join(folder, 'file'), 'not a folder');
    return new FolderDestination(join(folder, 'file'));
  },
  manyKeys: 100,
});

it('a folder with contents makes no folder after a failure, until one of its objects is read', async () => {
  const [copies, unmounted] = [join(folder, 'copies'), join(folder, 'unmounted')];
  const destination = new FolderDestination(copies);
  const put = (key: string): Promise<void> => destination.put(key, new Uint8Array(1));
  await put('a/1');
  renameSync(copies, unmounted);
  mkdirSync(copies);
  // Copies of several databases run at the same time.
  await expect(put('a/2')).rejects.toMatchObject({ fields: { systemCode: 'ENOENT' } });
  for (const key of ['a/3', 'b/1']) await expect(put(key)).rejects.toMatchObject({ code: 'backup-unavailable' });
  expect([await destination.get('a/1'), readdirSync(copies)]).toEqual([null, []]);
  rmdirSync(copies);
  renameSync(unmounted, copies);
  expect(await destination.get('a/1')).toEqual(Buffer.alloc(1));
  await put('b/1');
});

it('a folder does not keep the unfinished files of servers that were killed', async () => {
  const incoming = join(folder, '.incoming');
  mkdirSync(incoming);
  for (const name of ['abandoned', 'being written']) writeFileSync(join(incoming, name), 'x');
  const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
  utimesSync(join(incoming, 'abandoned'), twoDaysAgo, twoDaysAgo);
  await new FolderDestination(folder).put('a', new Uint8Array(1));
  expect(readdirSync(incoming)).toEqual(['being written']);
});
