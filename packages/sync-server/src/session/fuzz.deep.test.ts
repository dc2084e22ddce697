import { expect, it } from 'vitest';
import { fuzzSessions } from '../../testing/fuzz-sessions.ts';

it('the server survives 200,000 hostile frames, with a new seed each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000) * 1_000;
  await expect(fuzzSessions(200_000, seed), `seed ${seed}`).resolves.toBeUndefined();
});
