import { afterEach } from 'vitest';
import { describeMediaContract } from '../testing/media.contract.ts';
import { RemoteTab } from '../testing/remote-tab.ts';
import type { TestMedium } from '../testing/tab.worker.ts';

let tabs: RemoteTab[] = [];

function newTab(medium: TestMedium): RemoteTab {
  const tab = new RemoteTab(medium);
  tabs.push(tab);
  return tab;
}

afterEach(() => {
  for (const tab of tabs) tab.terminate();
  tabs = [];
});

describeMediaContract({ title: 'OPFS shared', newTab: () => newTab('opfs-shared'), allowsReaders: true, whenFull: 'commit-fails' });
describeMediaContract({ title: 'OPFS exclusive', newTab: () => newTab('opfs-exclusive'), allowsReaders: false, whenFull: 'commit-fails' });
describeMediaContract({ title: 'IndexedDB', newTab: () => newTab('indexeddb'), allowsReaders: false, whenFull: 'committed-rejects' });
