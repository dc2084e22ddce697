import { expect, it, vi } from 'vitest';
import { lookAtEveryMoment } from '../testing/every-moment.ts';
import { FIRST, LARGE, SMALL, runStampedWriter } from '../testing/stamped-writer.ts';

// In a file of its own, since the replacement holds for the whole file.
vi.mock('./log/checksum.ts', () => ({ checksum: () => 1 }));

it(
  'a checksum that checks nothing is noticed by the readers that look at every moment',
  { timeout: 600_000 },
  async () => {
    const { faults } = await lookAtEveryMoment(
      await runStampedWriter([FIRST, 'checkpoint', SMALL, 'checkpoint', LARGE, SMALL]),
      1,
    );
    expect([...faults]).not.toEqual([]);
  },
);
