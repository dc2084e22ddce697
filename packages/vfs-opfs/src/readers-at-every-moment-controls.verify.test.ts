import { expect, it } from 'vitest';
import type { DiskCall } from '../testing/disk-call.ts';
import { readAtEveryMoment } from '../testing/every-moment.ts';
import { FIRST, LARGE, SMALL, STAMPED_NAME, runStampedWriter } from '../testing/stamped-writer.ts';
import type { StampedRun } from '../testing/stamped-writer.ts';

// Readers that read at every moment must detect a writer that reorders or omits its disk calls.

const STEPS = [FIRST, 'checkpoint', SMALL, 'checkpoint', LARGE, 'checkpoint', SMALL] as const;

/** Returns the state word of a segment header, which is written alone or with an end mark after it. */
function headerState(call: DiskCall): number | undefined {
  if (call.kind !== 'write' || call.at !== 0 || call.file === `${STAMPED_NAME}.sqlite`) return undefined;
  return new DataView(call.bytes.buffer, call.bytes.byteOffset).getInt32(5 * 4, true);
}

const isBeginning = (call: DiskCall): boolean =>
  call.kind === 'write' && headerState(call) === 1 && call.bytes.length > 64;

/** Returns the run as if the call at `from` had been made before the one at `to`. */
function moved({ calls, acknowledged }: StampedRun, from: number, to: number): StampedRun {
  const call = calls[from]!;
  const others = calls.filter((_, index) => index !== from);
  return {
    calls: [...others.slice(0, to), call, ...others.slice(to)],
    acknowledged: acknowledged.map(({ callCount, stamps }) => ({
      stamps,
      callCount: callCount > to && callCount <= from ? callCount + 1 : callCount,
    })),
  };
}

/** Returns the faults up to the first one whose description contains `text`. */
async function faultsUntil(text: string, run: StampedRun): Promise<readonly string[]> {
  const { faults } = await readAtEveryMoment(run, 1, (fault) => fault.includes(text));
  return [...faults];
}

it('readers at every moment detect a commit that is acknowledged before its record is written', async () => {
  const run = await runStampedWriter(STEPS);
  const acknowledged = run.acknowledged.map(({ callCount, stamps }) => ({ stamps, callCount: callCount - 1 }));
  const stale = 'was acknowledged or read before';
  expect(await faultsUntil(stale, { ...run, acknowledged })).toContainEqual(expect.stringContaining(stale));
});

it('readers at every moment detect a WAL checkpoint that is not marked as copying', async () => {
  const run = await runStampedWriter(STEPS);
  const isCopying = (call: DiskCall): boolean => headerState(call) === 2;
  expect(run.calls.some(isCopying)).toBe(true);
  const calls = run.calls.map((call) =>
    isCopying(call) || headerState(call) === 3 ? ({ kind: 'flush', file: 'none' } as const) : call,
  );
  const mixed = 'pages belong to different commits';
  expect(await faultsUntil(mixed, { ...run, calls })).toContainEqual(expect.stringContaining(mixed));
});

it('readers at every moment detect a segment that is reused before it was copied [CT-moments-controls]', async () => {
  const run = await runStampedWriter(STEPS);
  // The third generation begins in the segment of the first, whose pages are copied with the first writes to the
  // database file.
  const third = run.calls.findIndex(
    (call, index) => isBeginning(call) && run.calls.slice(0, index).filter(isBeginning).length === 2,
  );
  const firstCopy = run.calls.findIndex((call) => call.kind === 'write' && call.file === `${STAMPED_NAME}.sqlite`);
  expect(third).toBeGreaterThan(firstCopy);
  expect(await faultsUntil('', moved(run, third, firstCopy))).not.toEqual([]);
});
