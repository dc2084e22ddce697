import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { fuzzSessions } from '../../testing/fuzz-sessions.ts';

it('answers hostile frames, crafted ones included, with typed failures only', async () => {
  await expect(fuzzSessions(atLevel({ test: 2_000, verify: 5_000 }), 1)).resolves.toBeUndefined();
});
