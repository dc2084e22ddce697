import { expect, it } from 'vitest';
import { checkValues } from '../../testing/all-values.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const tested = serverUnderTest();

it('values of every type, including edge cases, are stored and delivered unchanged', async () => {
  await expect(checkValues(tested.server, 3_000, 1)).resolves.toBeUndefined();
});
