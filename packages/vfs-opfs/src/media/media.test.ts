import { localTab } from '../testing/contract-tab.ts';
import { describeMediaContract } from '../testing/media.contract.ts';
import { loadNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { memoryMedium } from './memory.ts';

const memory = memoryMedium();

describeMediaContract({
  title: 'memory',
  newTab: () => localTab({ medium: memory, loadSqlite: loadNodeSqlite, setFull: () => undefined }),
  allowsReaders: true,
  canBeFull: false,
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
    }),
  allowsReaders: true,
  canBeFull: true,
});
