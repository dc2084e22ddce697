import { describe, expect, it } from 'vitest';
import { LOCKED_CASTS, everyLockSchedule } from '../testing/lock-protocol.ts';

// What lock-protocol.test.ts does, with more that may happen in one schedule.
describe('the lock protocol', () => {
  for (const [title, cast] of Object.entries(LOCKED_CASTS)) {
    it(`holds under every schedule: ${title}, one of them dead at any step`, async () => {
      const { schedules, faults } = await everyLockSchedule(cast, {
        preemptions: Object.keys(cast).length < 3 ? 2 : 1,
        deaths: 1,
      });
      console.log(`${title}: ${schedules} schedules`);
      expect(faults.slice(0, 5)).toEqual([]);
    });
  }
});
