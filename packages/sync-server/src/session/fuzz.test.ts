import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { seedOfRun } from '../../../../tests/kit/seed.ts';
import { fuzzSessions } from '../../testing/fuzz-sessions.ts';

it('the server answers hostile frames, including crafted ones, only with typed failures', async () => {
  await expect(fuzzSessions(atLevel({ test: 700, verify: 5_000 }), seedOfRun)).resolves.toBeUndefined();
});
