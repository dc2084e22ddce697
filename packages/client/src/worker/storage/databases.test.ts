import { exportFile, importFile, listStorages, memoryMedium, openStorage, type Medium } from '@rockpool/vfs-opfs';
import { SimulatedDisk, SimulatedExtents } from '@rockpool/vfs-opfs/testing';
import { expect, it } from 'vitest';
import { openStored, STORED_NAME, testRuntime } from '../../../testing/worker/test-database.ts';
import { branchFile } from '../../rpc/branch-file.ts';
import type { DatabasesApi } from '../../rpc/worker-api.ts';
import { blobOf } from './backups.ts';
import { databasesIn } from './databases.ts';

function databasesOn(disk: { medium(): Medium }): DatabasesApi {
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

const LEDGER_AND_BRANCHES = ['ledger', branchFile('ledger', 'plan'), branchFile('ledger', 'trip')];

async function storeAll(names: readonly string[], medium: Medium): Promise<void> {
  const source = await someFile();
  for (const name of names) await importFile({ name, medium, source, check: async () => undefined });
}

it.each([
  ['OPFS', () => new SimulatedDisk()],
  ['IndexedDB', () => new SimulatedExtents()],
])('a database keeps all its branches while it or one of them is open: %s', async (_, create) => {
  const disk = create();
  await storeAll([...LEDGER_AND_BRANCHES, 'other'], disk.medium());
  for (const name of LEDGER_AND_BRANCHES) {
    const open = await openStorage({ name, medium: disk.medium(), role: 'writer' });
    await expect(databasesOn(disk).deleteDatabase('ledger')).rejects.toMatchObject({ code: 'storage-busy' });
    expect(await listStorages(disk.medium())).toEqual([...LEDGER_AND_BRANCHES, 'other']);
    await open.close();
  }
  await databasesOn(disk).deleteDatabase('ledger');
  expect(await listStorages(disk.medium())).toEqual(['other']);
});

it('an interrupted deletion leaves no branch without its database', async () => {
  let isDeleted = false;
  for (let removals = 0; !isDeleted; removals++) {
    const disk = new SimulatedDisk();
    await storeAll(LEDGER_AND_BRANCHES, disk.medium());
    const medium = disk.medium();
    let left = removals;
    const interrupted: Medium = {
      ...medium,
      async remove(file: string) {
        if (left-- === 0) throw new DOMException('the worker ends', 'InvalidStateError');
        await medium.remove(file);
      },
    };
    isDeleted = await databasesOn({ medium: () => interrupted })
      .deleteDatabase('ledger')
      .then(
        () => true,
        () => false,
      );
    const stored = await listStorages(disk.medium());
    if (stored.length > 0) expect(stored).toContain('ledger');
    expect(isDeleted).toBe(stored.length === 0);
  }
});

it('a name that no database can have is the name of no database', async () => {
  await expect(databasesOn(new SimulatedDisk()).deleteDatabase('no/database')).resolves.toBeUndefined();
});
