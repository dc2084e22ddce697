import { expect, it } from 'vitest';
import { fuzzSessions } from '../testing/fuzz-sessions.ts';

it('survives 1,000,000 hostile frames, other ones each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000) * 10_000;
  await expect(fuzzSessions(1_000_000, seed), `seed ${seed}`).resolves.toBeUndefined();
});
