import { StorageError } from '@rockpool/vfs-opfs';
import { expect, it } from 'vitest';
import { ReadInterrupted } from '../leader/read-interrupted.ts';
import { Backups } from './backups.ts';

const bytes = new TextEncoder().encode('bytes of a file');

/** Exports that fail in their middle with these, one after the other; then one that does not. */
function storageFailing(...failures: readonly Error[]): ConstructorParameters<typeof Backups>[0] {
  const left = [...failures];
  return {
    exportFile: async () => {
      const failure = left.shift();
      let isBegun = false;
      return new ReadableStream({
        pull(controller) {
          if (isBegun && failure !== undefined) return controller.error(failure);
          if (isBegun) return controller.close();
          isBegun = true;
          controller.enqueue(bytes);
        },
      });
    },
  };
}

const snapshotLost = (): StorageError => new StorageError('storage-snapshot-lost');

it('a backup whose snapshot was taken away is made once more, and no more than once', async () => {
  expect(await (await new Backups(storageFailing(snapshotLost())).make()).text()).toBe('bytes of a file');
  await expect(new Backups(storageFailing(snapshotLost(), snapshotLost())).make()).rejects.toMatchObject({
    code: 'storage-lost',
    fields: { reason: 'snapshot' },
  });
});

it('a backup that fails says why, in the words of the storage', async () => {
  await expect(
    new Backups(storageFailing(new StorageError('storage-lost', { operation: 'read' }))).make(),
  ).rejects.toMatchObject({ code: 'storage-lost', fields: { operation: 'read' } });
});

it('a backup that is interrupted by closing is asked for again, of whoever leads next', async () => {
  const backups = new Backups(storageFailing(new StorageError('storage-lost', { operation: 'read' })));
  const made = backups.make();
  backups.close();
  await expect(made).rejects.toBeInstanceOf(ReadInterrupted);
});
