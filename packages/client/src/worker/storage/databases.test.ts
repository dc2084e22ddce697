import { exportFile, importFile, memoryMedium } from '@rockpool/vfs-opfs';
import { SimulatedDisk } from '@rockpool/vfs-opfs/testing';
import { expect, it } from 'vitest';
import { openStored, STORED_NAME, testRuntime } from '../../../testing/worker/test-database.ts';
import { branchFile } from '../../rpc/branch-file.ts';
import type { DatabasesApi } from '../../rpc/worker-api.ts';
import { blobOf } from './backups.ts';
import { databasesIn } from './databases.ts';

function databasesOn(disk: SimulatedDisk): DatabasesApi {
  const place = { persistence: 'opfs', medium: disk.medium() } as const;
  return databasesIn({
    places: async () => [place],
    chooseMedium: async () => place,
    loadSqlite: async () => testRuntime,
  });
}

async function someFile(): Promise<Blob> {
  const medium = memoryMedium();
  await (await openStored(medium)).close();
  return blobOf(await exportFile(STORED_NAME, medium));
}

/** A disk whose worker died while it checked the staged file of an import under a new name. */
async function diskAfterKill(name: string): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  const files = new Map<string, Uint8Array>();
  const check = async (): Promise<void> => {
    for (const file of await disk.medium().list()) {
      const bytes = disk.file(file)!;
      const content = new Uint8Array(bytes.sizeBytes);
      bytes.read(content, 0);
      files.set(file, content);
    }
  };
  await importFile({ name, medium: disk.medium(), source: await someFile(), check });
  return new SimulatedDisk({ files });
}

it.each(['ledger', branchFile('ledger', 'plan')])(
  'deleting a database deletes what an import left before the database existed: %s',
  async (name) => {
    const disk = await diskAfterKill(name);
    const left = await disk.medium().list();
    expect(left).toContain(`${name}~import.sqlite`);
    await databasesOn(disk).deleteDatabase('other');
    expect(await disk.medium().list()).toEqual(left);
    await databasesOn(disk).deleteDatabase('ledger');
    expect(await disk.medium().list()).toEqual([]);
    await databasesOn(disk).deleteDatabase('ledger');
  },
);

it('a database cannot be deleted during its first import', async () => {
  const disk = new SimulatedDisk();
  const check = async (): Promise<void> => {
    await expect(databasesOn(disk).deleteDatabase('ledger')).rejects.toMatchObject({ code: 'storage-busy' });
  };
  await importFile({ name: 'ledger', medium: disk.medium(), source: await someFile(), check });
  expect(await disk.medium().list()).toContain('ledger.sqlite');
});
