import { expect, it } from 'vitest';
import { fuzzSessions } from '../testing/fuzz-sessions.ts';

it('survives 50,000 hostile frames, other ones each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000) * 1_000;
  await expect(fuzzSessions(50_000, seed), `seed ${seed}`).resolves.toBeUndefined();
});
