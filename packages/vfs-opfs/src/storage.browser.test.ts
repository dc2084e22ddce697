import { afterEach, describe, expect, it } from 'vitest';
import { RemoteTab } from '../testing/remote-tab.ts';
import { PATIENT_MS } from '../testing/tab-commands.ts';

let tabs: RemoteTab[] = [];
let nameCount = 0;

function newTab(): RemoteTab {
  const tab = new RemoteTab('opfs-shared');
  tabs.push(tab);
  return tab;
}

function newName(): string {
  nameCount += 1;
  return `browser-test-${Date.now()}-${nameCount}`;
}

afterEach(() => {
  for (const tab of tabs) tab.terminate();
  tabs = [];
});

const CREATE = 'CREATE TABLE entry(id INTEGER PRIMARY KEY, content TEXT)';
const INSERT = "INSERT INTO entry(content) VALUES ('x')";
const COUNT = 'SELECT count(*) FROM entry';

describe('a database in OPFS', () => {
  it('can be reopened after closing, as a plain SQLite file', async () => {
    const name = newName();
    const tab = newTab();
    await tab.call('open', name, 'writer', PATIENT_MS);
    await tab.call('run', CREATE);
    for (let count = 0; count < 20; count += 1) await tab.call('run', INSERT);
    await tab.call('close');
    expect(await tab.call('names')).toContain(name);
    expect((await tab.call('sizes', name))?.databaseBytes).toBe(16384);
    const other = newTab();
    await other.call('open', name, 'writer', PATIENT_MS);
    expect(await other.call('run', COUNT)).toEqual([[20]]);
    expect(await other.call('run', 'PRAGMA integrity_check')).toEqual([['ok']]);
    await other.call('close');
    await other.call('remove', name);
    expect(await other.call('names')).not.toContain(name);
  });

  it('keeps all commits if the worker is terminated and another takes over', async () => {
    const name = newName();
    let committed = 0;
    for (let round = 0; round < 5; round += 1) {
      const tab = newTab();
      // A terminated worker may keep its lock for about two more seconds.
      await tab.call('open', name, 'writer', PATIENT_MS);
      if (round === 0) await tab.call('run', CREATE);
      expect(await tab.call('run', COUNT)).toEqual([[committed]]);
      for (let count = 0; count < 10; count += 1) await tab.call('run', INSERT);
      committed += 10;
      tab.terminate();
    }
  });

  it('shows every commit of the writer to two readers in other workers', async () => {
    const name = newName();
    const [writer, first, second] = [newTab(), newTab(), newTab()];
    await writer.call('open', name, 'writer', PATIENT_MS);
    await writer.call('run', CREATE);
    await Promise.all([
      first.call('open', name, 'reader', PATIENT_MS),
      second.call('open', name, 'reader', PATIENT_MS),
    ]);
    for (let count = 1; count <= 100; count += 1) {
      await writer.call('run', INSERT);
      expect(await Promise.all([first.call('run', COUNT), second.call('run', COUNT)])).toEqual([[[count]], [[count]]]);
    }
    expect(await writer.call('checkpoint')).toBe(true);
    expect(await first.call('run', `${COUNT}; PRAGMA integrity_check`)).toEqual([['ok']]);
  });

  it('never goes backwards for readers while a writer commits and reuses its log segments', async () => {
    const name = newName();
    const [writer, first, second] = [newTab(), newTab(), newTab()];
    await writer.call('open', name, 'writer', PATIENT_MS, { tuning: { checkpointAfterBytes: 512 * 1024 } });
    await writer.call('run', CREATE);
    await Promise.all([
      first.call('open', name, 'reader', PATIENT_MS),
      second.call('open', name, 'reader', PATIENT_MS),
    ]);
    const readers = [first, second];
    const watching = readers.map((reader) => reader.call('watch', COUNT));
    const reads = async (): Promise<number[]> => Promise.all(readers.map((reader) => reader.call('readCount')));
    let count = 0;
    // A segment is sealed about every hundred commits. Each reader reads many times meanwhile, however slowly it runs.
    while (count < 1000 || Math.min(...(await reads())) < 1000) {
      for (let commit = 0; commit < 100; commit += 1) await writer.call('run', INSERT);
      count += 100;
    }
    for (const reader of readers) await reader.call('endWatch');
    expect(await Promise.all(watching)).toEqual([0, 0]);
    for (const reader of readers) {
      expect(await reader.call('run', COUNT)).toEqual([[count]]);
      expect(await reader.call('run', 'PRAGMA integrity_check')).toEqual([['ok']]);
      expect(await reader.call('lastError')).toBeUndefined();
    }
    expect(await writer.call('lastError')).toBeUndefined();
  });
});

describe('opening in OPFS', () => {
  it('fails with storage-busy for a second writer', async () => {
    const name = newName();
    const [first, second] = [newTab(), newTab()];
    await first.call('open', name, 'writer', PATIENT_MS);
    await expect(second.call('open', name, 'writer', 50)).rejects.toMatchObject({ code: 'storage-busy' });
  });

  it('fails with storage-missing for a reader without a database, and creates nothing', async () => {
    const name = newName();
    const tab = newTab();
    await expect(tab.call('open', name, 'reader', 50)).rejects.toMatchObject({ code: 'storage-missing' });
    expect(await tab.call('names')).not.toContain(name);
  });

  it('fails with storage-unsupported and lists what the browser lacks', async () => {
    await expect(newTab().openWithout('modes')).rejects.toMatchObject({
      code: 'storage-unsupported',
      fields: { missing: ['readwrite-unsafe access handles'] },
    });
    await expect(newTab().openWithout('opfs')).rejects.toMatchObject({
      code: 'storage-unsupported',
      fields: { missing: ['origin-private file system'] },
    });
  });

  it('fails with storage-ephemeral if the window refuses to keep files [CT-private]', async () => {
    await expect(newTab().openWithout('permission')).rejects.toMatchObject({ code: 'storage-ephemeral' });
  });
});
