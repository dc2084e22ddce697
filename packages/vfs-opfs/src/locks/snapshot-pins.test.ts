import { expect, it } from 'vitest';
import { InProcessLocks } from './in-process-locks.ts';
import { SnapshotPins } from './snapshot-pins.ts';
import { snapshotLockName } from './storage-locks.ts';

const NAME = 'ledger';

/** Pins of a reader, and a writer that holds the lock of generation 1. */
async function requested(): Promise<{
  readonly pins: SnapshotPins;
  readonly release: () => void;
  readonly isLocked: (generation: number) => Promise<boolean>;
}> {
  const locks = new InProcessLocks();
  const writer = locks.owner();
  const lock = (generation: number): Promise<(() => void) | undefined> =>
    writer.request(snapshotLockName(NAME, generation), 'exclusive', 0);
  const pins = new SnapshotPins(locks.owner(), NAME);
  const release = (await lock(1)) as () => void;
  pins.moveTo(1);
  return {
    pins,
    release,
    async isLocked(generation) {
      const releaseAgain = await lock(generation);
      releaseAgain?.();
      return releaseAgain === undefined;
    },
  };
}

it('a reader that is closed keeps no lock that is granted later', async () => {
  const { pins, release, isLocked } = await requested();
  pins.close();
  release();
  await Promise.resolve();
  expect(await isLocked(1)).toBe(false);
});

it('a reader that has moved on keeps no lock of an earlier generation that is granted later', async () => {
  const { pins, release, isLocked } = await requested();
  pins.moveTo(2);
  release();
  await Promise.resolve();
  expect([await isLocked(1), await isLocked(2)]).toEqual([false, true]);
});
