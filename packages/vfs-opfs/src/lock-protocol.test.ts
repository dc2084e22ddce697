import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../tests/support/level.ts';
import { LOCKED_CASTS, everyLockSchedule } from '../testing/lock-protocol.ts';

describe('the lock protocol', () => {
  for (const [title, cast] of Object.entries(LOCKED_CASTS)) {
    // A death makes ten times as many: of two workers one dies from `npm run verify` on, of three in
    // lock-protocol.deep.test.ts.
    const deaths = Object.keys(cast).length < 3 ? atLevel({ test: 0, verify: 1 }) : 0;
    it(
      `holds under every schedule: ${title}${deaths > 0 ? ', one of them dead at any step' : ''}`,
      { timeout: 600_000 },
      async () => {
        const { schedules, faults } = await everyLockSchedule(cast, { preemptions: 1, deaths });
        console.log(`${title}: ${schedules} schedules`);
        expect(faults.slice(0, 5)).toEqual([]);
      },
    );
  }

  it('is noticed when locks are granted to everybody', { timeout: 600_000 }, async () => {
    const { faults } = await everyLockSchedule(LOCKED_CASTS['two writers in turn'], {
      preemptions: 1,
      deaths: 0,
      areLocksBroken: true,
    });
    expect(faults).toContainEqual(expect.stringMatching(/was made twice|was acknowledged/));
  });
});
