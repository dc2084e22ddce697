import { expect, it, vi } from 'vitest';
import { LOCK_SCENARIOS, everyLockSchedule } from '../testing/lock-protocol.ts';

// The mock applies to the whole file, so this test has its own.
vi.mock('./locks/snapshot-pins.ts', () => ({
  SnapshotPins: class {
    async acquire(): Promise<boolean> {
      return true;
    }
    moveTo(): void {}
    releaseAll(): void {}
    close(): void {}
  },
}));

it('the lock protocol detects readers that do not lock the generation that they need [CT-pins-control]', async () => {
  const { faults } = await everyLockSchedule(LOCK_SCENARIOS['a writer and a reader'], { preemptions: 2, deaths: 0 });
  expect(faults).toContainEqual(expect.stringContaining('storage-snapshot-lost'));
});
