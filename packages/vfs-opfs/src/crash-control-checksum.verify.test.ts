import { expect, it, vi } from 'vitest';
import { crashImages, seededRandom } from '../testing/crash-images.ts';
import { findFault, runWorkload } from '../testing/crash-workload.ts';
import { loadNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';

// The mock applies to the whole file, so this test has a file of its own.
vi.mock('./log/checksum.ts', () => ({ checksum: () => 1 }));

it('the crash images detect a checksum that accepts every record [CT-no-checksum]', async () => {
  const module = await loadNodeSqlite();
  const disk = new SimulatedDisk({ keepCalls: true });
  const workload = await runWorkload(disk, module, { durability: 'relaxed', count: 25 });
  const faults: string[] = [];
  for (const image of crashImages(disk, seededRandom(1), 6)) {
    const fault = await findFault(image, workload, module, false).catch((error: unknown) => String(error));
    if (fault !== undefined) faults.push(fault);
    if (faults.length > 0) break;
  }
  expect(faults).not.toEqual([]);
});
