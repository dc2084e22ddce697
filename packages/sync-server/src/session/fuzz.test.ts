import { expect, it } from 'vitest';
import { fuzzSessions } from '../testing/fuzz-sessions.ts';

it('survives 5,000 hostile frames, crafted ones among them, with typed failures only', { timeout: 120_000 }, async () => {
  await expect(fuzzSessions(5_000, 1)).resolves.toBeUndefined();
});
