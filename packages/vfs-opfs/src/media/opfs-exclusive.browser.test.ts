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
  return `exclusive-${Date.now()}-${nameCount}`;
}

afterEach(() => {
  for (const tab of tabs) tab.terminate();
  tabs = [];
});

const CREATE = 'CREATE TABLE entry(id INTEGER PRIMARY KEY, content TEXT)';
const INSERT = "INSERT INTO entry(content) VALUES ('x')";
const COUNT = 'SELECT count(*) FROM entry';

describe('the exclusive and the shared medium in OPFS', () => {
  for (const [first, second] of [
    ['opfs-shared', 'opfs-exclusive'],
    ['opfs-exclusive', 'opfs-shared'],
  ] as const) {
    it(`open each other's files: written by ${first}, with a log left by a terminated worker, opened by ${second}`, async () => {
      const name = newName();
      const one = newTab(first);
      await one.call('open', name, 'writer', PATIENT_MS);
      await one.call('run', CREATE);
      for (let count = 0; count < 10; count += 1) await one.call('run', INSERT);
      one.terminate();
      const two = newTab(second);
      await two.call('open', name, 'writer', PATIENT_MS);
      expect(await two.call('run', `PRAGMA integrity_check; ${COUNT}`)).toEqual([[10]]);
      await two.call('run', INSERT);
      await two.call('close');
      const three = newTab(first);
      await three.call('open', name, 'writer', PATIENT_MS);
      expect(await three.call('run', COUNT)).toEqual([[11]]);
      await three.call('close');
    });
  }
});

describe('opening on the exclusive medium', () => {
  it('succeeds after each termination of the previous worker, without losing a commit', async () => {
    const name = newName();
    let committed = 0;
    for (let round = 0; round < 8; round += 1) {
      const tab = newTab('opfs-exclusive');
      await tab.call('open', name, 'writer', PATIENT_MS);
      if (round === 0) await tab.call('run', CREATE);
      expect(await tab.call('run', `PRAGMA integrity_check; ${COUNT}`)).toEqual([[committed]]);
      for (let count = 0; count < 10; count += 1) await tab.call('run', INSERT);
      committed += 10;
      // Every other worker ends in the middle of a long statement.
      if (round % 2 === 1)
        tab
          .call(
            'run',
            'SELECT max(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT i FROM n)',
          )
          .catch(() => undefined);
      tab.terminate();
    }
  });

  it('waits while another worker holds a handle, and opens when it is free', async () => {
    const name = newName();
    const [writer, holder, next] = [newTab('opfs-shared'), newTab('opfs-shared'), newTab('opfs-exclusive-patient')];
    await writer.call('open', name, 'writer', PATIENT_MS);
    await writer.call('run', CREATE);
    // A reader has the files open without the writer's lock, like a worker that has lost its lock but not yet its
    // handles.
    await holder.call('open', name, 'reader', PATIENT_MS);
    await writer.call('close');
    let isOpen = false;
    const opening = next.call('open', name, 'writer', PATIENT_MS).then(() => {
      isOpen = true;
    });
    while ((await next.refusedHandles()) < 3);
    expect(isOpen).toBe(false);
    await holder.call('close');
    await opening;
    expect(await next.call('run', COUNT)).toEqual([[0]]);
    await next.call('close');
  });

  it('fails with storage-busy if the handle stays held, and releases its lock [CT-held-handle]', async () => {
    const name = newName();
    const [writer, holder, next] = [newTab('opfs-shared'), newTab('opfs-shared'), newTab('opfs-exclusive')];
    await writer.call('open', name, 'writer', PATIENT_MS);
    await writer.call('run', CREATE);
    await holder.call('open', name, 'reader', PATIENT_MS);
    await writer.call('close');
    await expect(next.call('open', name, 'writer', PATIENT_MS)).rejects.toMatchObject({ code: 'storage-busy' });
    await writer.call('open', name, 'writer', PATIENT_MS);
    expect(await writer.call('run', COUNT)).toEqual([[0]]);
  });
});
