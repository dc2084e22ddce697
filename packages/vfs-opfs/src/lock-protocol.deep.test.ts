import { describe, expect, it } from 'vitest';
import { LOCK_SCENARIOS, everyLockSchedule } from '../testing/lock-protocol.ts';

// Repeats lock-protocol.test.ts with more events per schedule.
describe('the lock protocol', () => {
  for (const [title, scenario] of Object.entries(LOCK_SCENARIOS)) {
    it(`holds under every schedule: ${title}, with one death at any step`, async () => {
      const { schedules, faults } = await everyLockSchedule(scenario, {
        preemptions: Object.keys(scenario).length < 3 ? 2 : 1,
        deaths: 1,
      });
      console.log(`${title}: ${schedules} schedules`);
      expect(faults.slice(0, 5)).toEqual([]);
    });
  }
});
