import { describe, expect, it } from 'vitest';
import { crashImages, seededRandom } from '../testing/crash-images.ts';
import {
  bounds,
  findFault,
  findFaultOnDisk,
  lastOnDisk,
  openCrashStorage,
  runWorkload,
} from '../testing/crash-workload.ts';
import { loadNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import { atLevel } from '../../../tests/kit/level.ts';
import { SEGMENT_HEADER_BYTES } from './log/segment-header.ts';

const SEED = 20260921;
let imageTotal = 0;

/**
 * Of this many crashes, one is examined; `npm run verify` examines all. Each call has one or four crashes, so that an
 * odd number reaches every kind.
 */
const oneOf = atLevel({ test: 13, verify: 1 });

/**
 * Whether the last call marked a segment `done` and has not been flushed. The call before it flushed the copy.
 */
function isAtDone({ calls }: SimulatedDisk, callCount: number): boolean {
  const [flush, mark] = calls.slice(callCount - 2, callCount);
  return flush?.kind === 'flush' && flush.file === 'crash.sqlite' && mark?.kind === 'write' && mark.at === 0;
}

/** Whether one of the last calls began a generation: wrote a header and an end mark. */
function isAtBegin({ calls }: SimulatedDisk, callCount: number): boolean {
  return calls
    .slice(Math.max(0, callCount - 4), callCount)
    .some((call) => call.kind === 'write' && call.at === 0 && call.bytes.length > SEGMENT_HEADER_BYTES);
}

describe('a crash after any disk call', () => {
  for (const [durability, pageSizeBytes] of [
    ['relaxed', 1024],
    ['strict', 1024],
    ['relaxed', 4096],
  ] as const) {
    it(`keeps every acknowledged transaction whole and nothing else, with durability ${durability} and pages of ${pageSizeBytes} bytes [CT-images]`, async () => {
      const module = await loadNodeSqlite();
      const disk = new SimulatedDisk({ keepCalls: true });
      const workload = await runWorkload(disk, module, { durability, count: 50, pageSizeBytes });
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
    const workload = await runWorkload(disk, module, { durability: 'strict', count: 30 });
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

  it('keeps a prefix of the transactions if nothing was flushed before the log reached its second generation [CT-unflushed]', async () => {
    const module = await loadNodeSqlite();
    const disk = new SimulatedDisk({ keepCalls: true });
    const workload = await runWorkload(disk, module, { durability: 'relaxed', count: 14, requestsFlushes: false });
    const faults: string[] = [];
    let count = 0;
    for (const image of crashImages(disk, seededRandom(SEED), 2)) {
      count += 1;
      if (count % oneOf !== 0) continue;
      const fault = await findFault(image, workload, module, false);
      if (fault !== undefined) faults.push(`after call ${image.callCount}, ${image.survivors}: ${fault}`);
    }
    expect(faults.slice(0, 5)).toEqual([]);
  });

  it('keeps everything if a kill ended a copy before its mark was flushed, and the power fails when the segment is used again [CT-kill-then-cut]', async () => {
    const module = await loadNodeSqlite();
    const disk = new SimulatedDisk({ keepCalls: true });
    const durability = 'strict';
    const workload = await runWorkload(disk, module, { durability, count: 30 });
    const random = seededRandom(SEED);
    const faults: string[] = [];
    let kills = 0;
    let count = 0;
    for (const image of crashImages(disk, random, 1)) {
      if (image.survivors !== 'everything' || !isAtDone(disk, image.callCount)) continue;
      if (kills++ % atLevel({ test: 3, verify: 1 }) !== 0) continue;
      const continued = image.restore();
      const earlier = {
        acknowledged: bounds(image, workload)[0],
        issued: await lastOnDisk(image.restore(), durability, module),
      };
      const later = await runWorkload(continued, module, { durability, count: 5, earlier });
      for (const second of crashImages(continued, random, atLevel({ test: 2, verify: 16 }))) {
        if (!isAtBegin(continued, second.callCount)) continue;
        count += 1;
        const fault = await findFault(second, later, module, false);
        if (fault !== undefined)
          faults.push(
            `killed after call ${image.callCount}, then call ${second.callCount}, ${second.survivors}: ${fault}`,
          );
      }
    }
    console.log(`${count} crash images after a kill`);
    expect(faults.slice(0, 5)).toEqual([]);
  });
});
