import { expect, it, vi } from 'vitest';
import { LOCKED_CASTS, everyLockSchedule } from '../testing/lock-protocol.ts';

// In a file of its own, since the replacement holds for the whole file.
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

it(
  'readers that do not say which generation they need are told to read again, and the lock protocol notices',
  { timeout: 600_000 },
  async () => {
    const { faults } = await everyLockSchedule(LOCKED_CASTS['a writer and a reader'], { preemptions: 2, deaths: 0 });
    expect(faults).toContainEqual(expect.stringContaining('storage-snapshot-lost'));
  },
);
