import { describe, expect, it } from 'vitest';
import { crashImages, seededRandom } from '../testing/crash-images.ts';
import { findFault, runWorkload } from '../testing/crash-workload.ts';
import type { DiskCall } from '../testing/disk-call.ts';
import { loadNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';

/** Returns the faults found when the disk ignores these flushes, as if the code had never requested them. */
async function faultsWithout(isForgotten: (call: DiskCall) => boolean): Promise<string[]> {
  const module = await loadNodeSqlite();
  const disk = new SimulatedDisk({ keepCalls: true });
  const workload = await runWorkload(disk, module, { durability: 'strict', count: 25 });
  disk.calls.forEach((call, index) => {
    if (call.kind === 'flush' && isForgotten(call)) disk.calls[index] = { kind: 'flush', file: 'none' };
  });
  const faults: string[] = [];
  for (const image of crashImages(disk, seededRandom(1), 1)) {
    const fault = await findFault(image, workload, module, false).catch((error: unknown) => String(error));
    if (fault !== undefined) faults.push(fault);
    if (faults.length === 3) break;
  }
  return faults;
}

describe('the crash images', () => {
  it('find no fault when every flush is kept', async () => {
    expect(await faultsWithout(() => false)).toEqual([]);
  });

  it('detect a segment that is reused before the database file was flushed [CT-early-reuse]', async () => {
    expect(await faultsWithout((call) => call.file === 'crash.sqlite')).not.toEqual([]);
  });

  it('detect a commit that is acknowledged before its segment was flushed [CT-no-flush]', async () => {
    expect(await faultsWithout((call) => call.file !== 'crash.sqlite')).not.toEqual([]);
  });
});
