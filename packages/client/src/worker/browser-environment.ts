import { newId } from '../new-id.ts';
import { loadSqlite } from './sqlite/load-sqlite.ts';
import { BROWSER_MEDIA, chooseMedium, type ChosenMedium } from './storage/choose-medium.ts';
import { requireTabSupport } from './storage/require-tab-support.ts';
import type { WorkerEnvironment } from './worker-environment.ts';

export const BROWSER: WorkerEnvironment = {
  get locks() {
    return navigator.locks;
  },
  openPort: (channelName) => new BroadcastChannel(channelName),
  requireTabSupport,
  loadSqlite,
  chooseMedium,
  scopeOf(name, persistence) {
    switch (persistence) {
      case 'opfs':
      case 'opfs-exclusive':
        return name;
      case 'indexeddb':
        return `${name}:indexeddb`;
      case 'memory':
        return `${name}:memory:${newId()}`; // The memory is private to this worker.
    }
  },
  places,
};

/** The persistent media of this browser. Both OPFS media use the same files. */
async function places(): Promise<readonly ChosenMedium[]> {
  const all = ['opfs', 'opfs-exclusive', 'indexeddb'] as const;
  const candidates: readonly ChosenMedium[] = await Promise.all(
    all.map(async (persistence) => ({ persistence, medium: await BROWSER_MEDIA.medium(persistence) })),
  );
  const usable = await Promise.all(candidates.map(async ({ medium }) => (await medium.missing()).length === 0));
  const [shared, exclusive, indexedDb] = candidates.map((place, index) => (usable[index] === true ? [place] : []));
  return [...(shared?.length === 0 ? (exclusive ?? []) : (shared ?? [])), ...(indexedDb ?? [])];
}
