import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../tests/kit/level.ts';
import { LOCK_SCENARIOS, everyLockSchedule } from '../testing/lock-protocol.ts';

describe('the lock protocol', () => {
  for (const [title, scenario] of Object.entries(LOCK_SCENARIOS)) {
    // A death requires ten times as many schedules. With two workers, one dies at `npm run verify` and above; with
    // three, in lock-protocol.deep.test.ts.
    const deaths = Object.keys(scenario).length < 3 ? atLevel({ test: 0, verify: 1 }) : 0;
    it(`holds under every schedule: ${title}${deaths > 0 ? ', with one death at any step' : ''} [CT-locks]`, async () => {
      const { schedules, faults } = await everyLockSchedule(scenario, { preemptions: 1, deaths });
      console.log(`${title}: ${schedules} schedules`);
      expect(faults.slice(0, 5)).toEqual([]);
    });
  }

  it('detects locks that are granted to every worker [CT-locks-control]', async () => {
    const { faults } = await everyLockSchedule(LOCK_SCENARIOS['two writers in turn'], {
      preemptions: 1,
      deaths: 0,
      areLocksBroken: true,
    });
    expect(faults).toContainEqual(expect.stringMatching(/was made twice|was acknowledged/));
  });
});
