import { expect, it } from 'vitest';
import { checkValues } from '../../testing/all-values.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const tested = serverUnderTest();

it('values of every type, including edge cases, are stored and delivered unchanged: 1,000,000 of them, with a new seed each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000) * 10_000;
  await expect(checkValues(tested.server, 1_000_000, seed), `seed ${seed}`).resolves.toBeUndefined();
});
