import { generationFromHeader } from '../log/generation.ts';
import { LogWriter } from '../log/log-writer.ts';
import { pendingImport } from '../log/recovery.ts';
import type { FileMedium } from '../media/medium.ts';
import { GuardedFile } from '../media/guarded-file.ts';
import { openFiles } from '../open-files.ts';
import type { OpenFiles } from '../open-files.ts';
import { StorageError } from '../storage-error.ts';
import { stagedName, storageFileNames } from '../storage-name.ts';

/** Size of one write. */
const CHUNK_BYTES = 1024 * 1024;

/** Finishes an import that has been decided, if there is one. */
export async function finishImport(name: string, medium: FileMedium, files: OpenFiles): Promise<void> {
  const header = pendingImport(files.segments);
  if (header === undefined) return;
  const staged = await medium.open(storageFileNames(stagedName(name))[0], false);
  if (staged === undefined)
    throw new StorageError('storage-corrupt', { what: 'the staged file of an import is missing' });
  const source = new GuardedFile(staged);
  try {
    copy(source, files.database);
  } finally {
    source.close();
  }
  const writer = new LogWriter(files.segments, header.pageSizeBytes, 0);
  writer.setState(generationFromHeader(header), 'done');
  writer.flush();
  await removeStaged(name, medium);
}

/** Like `finishImport`, for a database that is not open. The caller holds the writer's lock. */
export async function finishInterruptedImport(name: string, medium: FileMedium): Promise<void> {
  const files = await openFiles(medium, name, false);
  try {
    if (files !== undefined) await finishImport(name, medium, files);
  } finally {
    files?.close();
  }
}

export async function removeStaged(name: string, medium: FileMedium): Promise<void> {
  for (const fileName of storageFileNames(stagedName(name))) await medium.remove(fileName);
}

function copy(from: GuardedFile, to: GuardedFile): void {
  const sizeBytes = from.sizeBytes();
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let at = 0; at < sizeBytes; at += CHUNK_BYTES) {
    const chunk = buffer.subarray(0, Math.min(CHUNK_BYTES, sizeBytes - at));
    from.readOrZeros(chunk, at);
    to.write(chunk, at);
  }
  to.truncate(sizeBytes);
  to.flush();
}
