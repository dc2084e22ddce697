import { expect, it, vi } from 'vitest';
import { readAtEveryMoment } from '../testing/every-moment.ts';
import { FIRST, LARGE, SMALL, runStampedWriter } from '../testing/stamped-writer.ts';

// The mock applies to the whole file, so this test has its own.
vi.mock('./log/checksum.ts', () => ({ checksum: () => 1 }));

it('readers at every moment detect a checksum that accepts every record [CT-moments-checksum]', async () => {
  const { faults } = await readAtEveryMoment(
    await runStampedWriter([FIRST, 'checkpoint', SMALL, 'checkpoint', LARGE, SMALL]),
    1,
    () => true,
  );
  expect([...faults]).not.toEqual([]);
});
