import { localTab } from '../../testing/contract-tab.ts';
import { describeMediaContract } from '../../testing/media.contract.ts';
import { loadNodeSqlite } from '../../testing/node-sqlite.ts';
import { SimulatedDisk } from '../../testing/simulated-disk.ts';
import { SimulatedExtents } from '../../testing/simulated-extents.ts';
import { memoryMedium } from './memory.ts';
import { atLevel } from '../../../../tests/kit/level.ts';

// `npm test` runs all of the contract on the simulated disk, and on the first medium of Chromium.
const ofOthers = atLevel({ test: 'differences', verify: 'whole' } as const);

const memory = memoryMedium();

describeMediaContract({
  title: 'memory',
  newTab: () =>
    localTab(
      { medium: memory, loadSqlite: loadNodeSqlite, setFull: () => undefined, setFreeBytes: () => undefined },
      () => undefined,
    ),
  allowsReaders: true,
  outlivesWorkers: false,
  whenFull: 'cannot-be-staged',
  extent: ofOthers,
});

const disk = new SimulatedDisk();

describeMediaContract({
  title: 'the simulated disk',
  newTab() {
    const medium = disk.medium();
    const setFull = (isFull: boolean): void => {
      disk.fault = isFull ? (call) => (call.kind === 'write' ? 'quota' : undefined) : undefined;
    };
    const setFreeBytes = (freeBytes: number): void => {
      disk.freeBytes = freeBytes;
    };
    return localTab({ medium, loadSqlite: loadNodeSqlite, setFull, setFreeBytes }, medium.kill);
  },
  allowsReaders: true,
  outlivesWorkers: true,
  whenFull: 'commit-fails',
  extent: 'whole',
});

const extents = new SimulatedExtents();

describeMediaContract({
  title: 'simulated extents',
  newTab() {
    const medium = extents.medium();
    const setFull = (isFull: boolean): void => {
      extents.outcome = () => (isFull ? 'aborts' : 'completes');
    };
    const setFreeBytes = (freeBytes: number): void => {
      extents.freeBytes = freeBytes;
    };
    return localTab({ medium, loadSqlite: loadNodeSqlite, setFull, setFreeBytes }, medium.kill);
  },
  allowsReaders: false,
  outlivesWorkers: true,
  whenFull: 'committed-rejects',
  extent: ofOthers,
});
