import { StorageError } from '@rockpool/vfs-opfs';
import { expect, it } from 'vitest';
import { ReadInterrupted } from '../leader/opened-database.ts';
import { Backups } from './backups.ts';

const bytes = new TextEncoder().encode('bytes of a file');

/** A storage whose exports fail midway with these errors, one after the other, and then succeed. */
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

it('a backup that loses its snapshot is repeated once', async () => {
  expect(await (await new Backups(storageFailing(snapshotLost())).make()).text()).toBe('bytes of a file');
  await expect(new Backups(storageFailing(snapshotLost(), snapshotLost())).make()).rejects.toMatchObject({
    code: 'storage-lost',
    fields: { reason: 'snapshot' },
  });
});

it('a backup that fails rejects with the error of the storage', async () => {
  await expect(
    new Backups(storageFailing(new StorageError('storage-lost', { operation: 'read' }))).make(),
  ).rejects.toMatchObject({ code: 'storage-lost', fields: { operation: 'read' } });
});

it('a backup that was interrupted because the leader closed can be requested again from the next leader', async () => {
  const backups = new Backups(storageFailing(new StorageError('storage-lost', { operation: 'read' })));
  const made = backups.make();
  backups.close();
  await expect(made).rejects.toBeInstanceOf(ReadInterrupted);
});
