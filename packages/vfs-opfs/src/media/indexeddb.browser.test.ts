import { afterEach, describe, expect, it } from 'vitest';
import { RemoteTab } from '../../testing/remote-tab.ts';
import { PATIENT_MS } from '../../testing/tab-commands.ts';
import type { TestMedium } from '../../testing/tab.worker.ts';

let tabs: RemoteTab[] = [];
let nameCount = 0;

function newTab(medium: TestMedium): RemoteTab {
  const tab = new RemoteTab(medium);
  tabs.push(tab);
  return tab;
}

function newName(): string {
  nameCount += 1;
  return `indexeddb-${Date.now()}-${nameCount}`;
}

afterEach(() => {
  for (const tab of tabs) tab.terminate();
  tabs = [];
});

const CREATE = 'CREATE TABLE entry(id INTEGER PRIMARY KEY, content TEXT)';
const INSERT = "INSERT INTO entry(content) VALUES ('x')";
const COUNT = 'SELECT count(*) FROM entry';

function rowsSql(count: number): string {
  return `INSERT INTO entry(content) SELECT printf('%.*c', 1000, 'x') FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n)`;
}

describe('a database in IndexedDB', () => {
  it('keeps what was acknowledged if the worker is terminated during writes [CT-indexeddb-ends]', async () => {
    const name = newName();
    let acknowledged = 0;
    for (let round = 0; round < 6; round += 1) {
      const tab = newTab('indexeddb');
      await tab.call('open', name, 'writer', PATIENT_MS);
      if (round === 0) await tab.call('run', CREATE);
      const found = await tab.call('run', `PRAGMA integrity_check; ${COUNT}`);
      // The batch of 300 rows that was pending when the worker ended is stored completely or not at all.
      expect([acknowledged, acknowledged + 300]).toContain(found[0]![0]);
      acknowledged = Number(found[0]![0]);
      for (let count = 0; count < 10; count += 1) await tab.call('run', INSERT);
      acknowledged += 10;
      tab.call('run', rowsSql(300)).catch(() => undefined);
      if (round % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 3 * round));
      tab.terminate();
    }
  });

  it('is complete after reopening at a size of several megabytes', async () => {
    const name = newName();
    const tab = newTab('indexeddb');
    await tab.call('open', name, 'writer', PATIENT_MS);
    await tab.call('run', `${CREATE}; ${rowsSql(20_000)}; ${CREATE.replace('entry', 'other')}`);
    await tab.call('close');
    expect((await tab.call('sizes', name))!.databaseBytes).toBeGreaterThan(2 * 128 * 65536);
    const again = newTab('indexeddb');
    await again.call('open', name, 'writer', PATIENT_MS);
    expect(await again.call('run', `PRAGMA integrity_check; ${COUNT}`)).toEqual([[20_000]]);
    await again.call('close');
  });

  it('fails with storage-full beyond the memory budget and stays usable', async () => {
    const name = newName();
    const tab = newTab('indexeddb-2MB');
    await tab.call('open', name, 'writer', PATIENT_MS);
    await tab.call('run', `${CREATE}; ${rowsSql(100)}`);
    await expect(tab.call('run', rowsSql(5000))).rejects.toMatchObject({ resultCode: 13 });
    expect(await tab.call('lastError')).toBe('storage-full');
    await tab.call('run', rowsSql(10));
    expect(await tab.call('run', `PRAGMA integrity_check; ${COUNT}`)).toEqual([[110]]);
    await tab.call('close');
    const large = newTab('indexeddb');
    await large.call('open', name, 'writer', PATIENT_MS);
    await large.call('run', rowsSql(5000));
    await large.call('close');
    await expect(newTab('indexeddb-2MB').call('open', name, 'writer', PATIENT_MS)).rejects.toMatchObject({
      code: 'storage-full',
      fields: { limit: 'memory' },
    });
  });
});
