import { expect, it } from 'vitest';
import type { DatabaseStore } from '../database-store.ts';
import { StorageError } from '../storage-error.ts';
import { snapshotSource, streamOf } from './byte-source.ts';

it('a snapshot that fails to start closes its reader', async () => {
  let isClosed = false;
  const beginRead = (): never => {
    throw new StorageError('storage-snapshot-lost');
  };
  const close = async (): Promise<void> => void (isClosed = true);
  await expect(snapshotSource({ store: { beginRead } as unknown as DatabaseStore, close })).rejects.toMatchObject({
    code: 'storage-snapshot-lost',
  });
  expect(isClosed).toBe(true);
});

it('a stream closes its source if a read fails', async () => {
  let isClosed = false;
  const read = (): never => {
    throw new StorageError('storage-snapshot-lost');
  };
  const stream = streamOf({ sizeBytes: 1, read, close: async () => void (isClosed = true) });
  await expect(stream.getReader().read()).rejects.toMatchObject({ code: 'storage-snapshot-lost' });
  expect(isClosed).toBe(true);
});
