import { expect, it } from 'vitest';
import { checkValues } from '../../testing/all-values.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const tested = serverUnderTest();

it('1,000,000 values of every kind and edge are stored, and told to others, as they were sent; other ones each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000) * 10_000;
  await expect(checkValues(tested.server, 1_000_000, seed), `seed ${seed}`).resolves.toBeUndefined();
});
