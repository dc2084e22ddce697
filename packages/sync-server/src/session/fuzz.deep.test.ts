import { expect, it } from 'vitest';
import { seedOfRun } from '../../../../tests/kit/seed.ts';
import { fuzzSessions } from '../../testing/fuzz-sessions.ts';

it('the server survives 200,000 hostile frames, with a new seed each run', async () => {
  await expect(fuzzSessions(200_000, seedOfRun), `seed ${seedOfRun}`).resolves.toBeUndefined();
});
