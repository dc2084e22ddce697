import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach } from 'vitest';
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
