import { describe, expect, it } from 'vitest';
import { readAtEveryMoment } from '../testing/every-moment.ts';
import { STAMPED_RUNS, runStampedWriter } from '../testing/stamped-writer.ts';

describe('a reader at every moment of a writer', () => {
  for (const { title, steps } of STAMPED_RUNS) {
    it(`sees whole snapshots that are never older than what was acknowledged: ${title} [CT-moments]`, async () => {
      const run = await runStampedWriter(steps);
      const { schedules, reads, revoked, faults } = await readAtEveryMoment(run, 1);
      console.log(
        `${title}: ${run.calls.length} calls, ${schedules} schedules, ${reads} complete reads, ${revoked} that must read again`,
      );
      expect([...faults].slice(0, 5)).toEqual([]);
      expect(reads).toBeGreaterThan(revoked);
    });
  }
});
