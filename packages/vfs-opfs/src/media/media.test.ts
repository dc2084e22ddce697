import { localTab } from '../testing/contract-tab.ts';
import { describeMediaContract } from '../testing/media.contract.ts';
import { loadNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { SimulatedExtents } from '../testing/simulated-extents.ts';
import { memoryMedium } from './memory.ts';

const memory = memoryMedium();

describeMediaContract({
  title: 'memory',
  newTab: () => localTab({ medium: memory, loadSqlite: loadNodeSqlite, setFull: () => undefined, setFreeBytes: () => undefined }),
  allowsReaders: true,
  whenFull: 'cannot-be-staged',
});

const disk = new SimulatedDisk();

describeMediaContract({
  title: 'the simulated disk',
  newTab: () =>
    localTab({
      medium: disk.medium(),
      loadSqlite: loadNodeSqlite,
      setFull: (isFull) => {
        disk.fault = isFull ? (call) => (call.kind === 'write' ? 'quota' : undefined) : undefined;
      },
      setFreeBytes: (freeBytes) => {
        disk.freeBytes = freeBytes;
      },
    }),
  allowsReaders: true,
  whenFull: 'commit-fails',
});

const extents = new SimulatedExtents();

describeMediaContract({
  title: 'simulated extents',
  newTab: () =>
    localTab({
      medium: extents.medium(),
      loadSqlite: loadNodeSqlite,
      setFull: (isFull) => {
        extents.fate = () => (isFull ? 'aborts' : 'completes');
      },
      setFreeBytes: (freeBytes) => {
        extents.freeBytes = freeBytes;
      },
    }),
  allowsReaders: false,
  whenFull: 'committed-rejects',
});
