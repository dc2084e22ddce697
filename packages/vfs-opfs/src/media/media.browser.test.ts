import { afterAll, afterEach, describe, expect, inject, it } from 'vitest';
import { level } from '../../../../tests/kit/level.ts';
import { describeMediaContract } from '../../testing/media.contract.ts';
import type { ContractMedium } from '../../testing/media.contract.ts';
import { RemoteTab } from '../../testing/remote-tab.ts';
import type { BrowserMedium } from '../../testing/browser-media.ts';
import type { TestMedium } from '../../testing/tab.worker.ts';

/** Of the running test. */
const tabs: RemoteTab[] = [];
/** Of earlier tests: starting a worker is half of the work of a short test. */
const reusable: RemoteTab[] = [];

function newTab(medium: TestMedium): RemoteTab {
  const at = reusable.findIndex((tab) => tab.medium === medium);
  const tab = reusable.splice(at, at === -1 ? 0 : 1)[0] ?? new RemoteTab(medium);
  tabs.push(tab);
  return tab;
}

afterEach(({ task }) => {
  for (const tab of tabs.splice(0)) {
    if (tab.isReusable() && task.result?.state !== 'fail') reusable.push(tab);
    else tab.terminate();
  }
});

afterAll(() => {
  for (const tab of reusable.splice(0)) tab.terminate();
});

type Facts = Omit<ContractMedium, 'newTab' | 'extent'>;

const MEDIA: Readonly<Record<BrowserMedium, Facts>> = {
  'opfs-shared': { title: 'OPFS shared', allowsReaders: true, outlivesWorkers: true, whenFull: 'commit-fails' },
  'opfs-exclusive': { title: 'OPFS exclusive', allowsReaders: false, outlivesWorkers: true, whenFull: 'commit-fails' },
  indexeddb: { title: 'IndexedDB', allowsReaders: false, outlivesWorkers: true, whenFull: 'committed-rejects' },
};

// Each browser's run declares the media it expects to work. Every other medium must be rejected, not work in part.
const usable = inject('usableMedia');

for (const [kind, medium] of Object.entries(MEDIA) as [BrowserMedium, Facts][]) {
  if (usable.includes(kind)) {
    describeMediaContract({
      ...medium,
      newTab: () => newTab(kind),
      extent: level === 'test' && kind !== usable[0] ? 'differences' : 'whole',
    });
    continue;
  }
  describe(medium.title, () => {
    it(`is rejected with ${inject('refusal')}`, async () => {
      await expect(newTab(kind).call('open', 'refused', 'writer', 50)).rejects.toMatchObject({
        code: inject('refusal'),
      });
    });
  });
}

describe('this browser', () => {
  it('reports its capabilities', async ({ task }) => {
    const capabilities = await newTab('indexeddb').capabilities();
    expect(capabilities.IndexedDB).toBe(true);
    // Reports the capabilities for the table in docs/browser-support.md.
    Object.assign(task.meta, { capabilities });
  });
});
