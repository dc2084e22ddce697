import { GuardedFile } from './media/guarded-file.ts';
import type { FileMedium } from './media/medium.ts';
import type { DatabaseFiles } from './pages/page-view.ts';
import { errorFromMedium } from './storage-error.ts';
import { storageFileNames } from './storage-name.ts';

/** The three open files of a database. */
export interface OpenFiles extends DatabaseFiles {
  close(): void;
}

/** Returns `undefined` when one of the files does not exist and `create` is false. */
export async function openFiles(
  medium: FileMedium,
  storageName: string,
  create: boolean,
): Promise<OpenFiles | undefined> {
  const results = await Promise.allSettled(
    storageFileNames(storageName).map((fileName) => medium.open(fileName, create)),
  );
  const files = results.map((result) =>
    result.status === 'fulfilled' && result.value !== undefined ? new GuardedFile(result.value) : undefined,
  );
  const [database, first, second] = files;
  if (database !== undefined && first !== undefined && second !== undefined) {
    return { database, segments: [first, second], close: () => files.forEach((file) => file?.close()) };
  }
  for (const file of files) file?.close();
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw errorFromMedium(failure.reason, 'open');
  return undefined;
}
