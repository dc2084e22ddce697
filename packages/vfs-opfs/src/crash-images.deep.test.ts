import { expect, it } from 'vitest';
import { crashImages, seededRandom } from '../testing/crash-images.ts';
import { findFault, findFaultOnDisk, openCrashStorage, runWorkload } from '../testing/crash-workload.ts';
import { loadNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';

// Repeats crash-images.test.ts with many seeds and more images of every kind.
for (const durability of ['relaxed', 'strict'] as const) {
  for (let seed = 1; seed <= 6; seed += 1) {
    it(`a crash keeps every acknowledged transaction whole, with durability ${durability} and seed ${seed}`, async () => {
      const module = await loadNodeSqlite();
      const disk = new SimulatedDisk({ keepCalls: true });
      const workload = await runWorkload(disk, module, {
        durability,
        count: 60,
        pageSizeBytes: seed % 2 === 0 ? 1024 : 4096,
      });
      const random = seededRandom(seed);
      const faults: string[] = [];
      let count = 0;
      for (const image of crashImages(disk, random, 6)) {
        count += 1;
        const fault = await findFault(image, workload, module, count % 3 === 0);
        if (fault !== undefined) faults.push(`after call ${image.callCount}, ${image.survivors}: ${fault}`);
        if (random() > 0.02) continue;
        const recovering = image.restore();
        await openCrashStorage(recovering, durability);
        for (const second of crashImages(recovering, random, 3)) {
          count += 1;
          const secondFault = await findFaultOnDisk(
            second.restore(),
            { ...image, survivors: 'some' },
            workload,
            module,
            false,
          );
          if (secondFault !== undefined)
            faults.push(`after call ${image.callCount}, then ${second.callCount} of the recovery: ${secondFault}`);
        }
      }
      console.log(`${count} crash images, durability ${durability}, seed ${seed}`);
      expect(faults.slice(0, 5)).toEqual([]);
    });
  }
}
