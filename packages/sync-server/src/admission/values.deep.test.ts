import { expect, it } from 'vitest';
import { seedOfRun } from '../../../../tests/kit/seed.ts';
import { checkValues } from '../../testing/all-values.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const tested = serverUnderTest();

it('values of every type, including edge cases, are stored and delivered unchanged: 1,000,000 of them, with a new seed each run', async () => {
  await expect(checkValues(tested.server, 1_000_000, seedOfRun), `seed ${seedOfRun}`).resolves.toBeUndefined();
});
