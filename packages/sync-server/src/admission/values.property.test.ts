import { expect, it } from 'vitest';
import { checkValues } from '../../testing/all-values.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const tested = serverUnderTest();

it(
  'values of every kind and edge are stored, and told to others, as they were sent',
  { timeout: 120_000 },
  async () => {
    await expect(checkValues(tested.server, 3_000, 1)).resolves.toBeUndefined();
  },
);
