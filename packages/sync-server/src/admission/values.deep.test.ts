import { expect, it } from 'vitest';
import { checkValues } from '../../testing/all-values.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const tested = serverUnderTest();

it('1,000,000 values of every type, edge cases included, are stored and delivered unchanged, with a new seed each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000) * 10_000;
  await expect(checkValues(tested.server, 1_000_000, seed), `seed ${seed}`).resolves.toBeUndefined();
});
