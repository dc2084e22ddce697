import { GuardedFile } from '../media/guarded-file.ts';
import type { FileMedium } from '../media/medium.ts';
import { StorageError } from '../storage-error.ts';
import { stagedName, storageFileNames } from '../storage-name.ts';
import { checkedChunks } from './checked-chunks.ts';
import type { ImportSource } from './checked-chunks.ts';

/** Writes the staged file of this database chunk by chunk, then flushes it. */
export async function writeStaged(name: string, medium: FileMedium, source: ImportSource): Promise<void> {
  const opened = await medium.open(storageFileNames(stagedName(name))[0], true);
  if (opened === undefined)
    throw new StorageError('storage-failed', {
      operation: 'import',
      reason: 'the staged file of an import was not created',
    });
  const file = new GuardedFile(opened);
  try {
    let at = 0;
    for await (const chunk of checkedChunks(source)) {
      file.write(chunk, at);
      at += chunk.length;
    }
    file.flush();
  } finally {
    file.close();
  }
}
