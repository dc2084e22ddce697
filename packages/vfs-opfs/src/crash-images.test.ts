import { describe, expect, it } from 'vitest';
import { crashImages, seededRandom } from '../testing/crash-images.ts';
import { findFault, findFaultOnDisk, openCrashStorage, runWorkload } from '../testing/crash-workload.ts';
import { loadNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { atLevel } from '../../../tests/kit/level.ts';

const SEED = 20260921;
let imageTotal = 0;

/** One crash in this number is examined; `npm run verify` examines all. */
const oneOf = atLevel({ test: 4, verify: 1 });

describe('a crash after any disk call', () => {
  for (const [durability, pageSizeBytes] of [
    ['relaxed', 1024],
    ['strict', 1024],
    ['relaxed', 4096],
  ] as const) {
    it(`keeps every acknowledged transaction whole and nothing else, with durability ${durability} and pages of ${pageSizeBytes} bytes [CT-images]`, async () => {
      const module = await loadNodeSqlite();
      const disk = new SimulatedDisk({ keepCalls: true });
      const workload = await runWorkload(disk, module, durability, 50, pageSizeBytes);
      const faults: string[] = [];
      let count = 0;
      for (const image of crashImages(disk, seededRandom(SEED), 1)) {
        count += 1;
        if (count % oneOf !== 0) continue;
        const fault = await findFault(image, workload, module, count % 5 === 0);
        if (fault !== undefined) faults.push(`after call ${image.callCount}, ${image.survivors}: ${fault}`);
      }
      imageTotal += count;
      console.log(
        `${count} crash images with durability ${durability}, pages of ${pageSizeBytes} bytes (${disk.calls.length} calls), ${imageTotal} so far`,
      );
      expect(faults.slice(0, 5)).toEqual([]);
      expect(count).toBeGreaterThan(800);
    });
  }

  it('keeps the result of an earlier crash if it interrupts the recovery [CT-recovery]', async () => {
    const module = await loadNodeSqlite();
    const disk = new SimulatedDisk({ keepCalls: true });
    const workload = await runWorkload(disk, module, 'strict', 30);
    const random = seededRandom(SEED);
    const faults: string[] = [];
    let count = 0;
    for (const image of crashImages(disk, random, 1)) {
      if (random() > 0.2) continue;
      const recovering = image.restore();
      // Only opens the storage before the worker dies, so that the recovery's own writes are torn in turn.
      await openCrashStorage(recovering, 'strict');
      for (const second of crashImages(recovering, random, 1)) {
        count += 1;
        if (count % oneOf !== 0) continue;
        const fault = await findFaultOnDisk(second.restore(), { ...image, survivors: 'some' }, workload, module, false);
        if (fault !== undefined)
          faults.push(`after call ${image.callCount}, then ${second.callCount} of the recovery: ${fault}`);
      }
    }
    imageTotal += count;
    console.log(`${count} crash images during recovery, ${imageTotal} in all`);
    expect(faults.slice(0, 5)).toEqual([]);
    expect(count).toBeGreaterThan(500);
  });
});
