import { expect, it } from 'vitest';
import { checkCommitOrder } from '../testing/commit-order.ts';
import { serverUnderTest } from '../testing/server-under-test.ts';

const tested = serverUnderTest();

it('nothing becomes visible behind the cursor of a reader, whoever else commits', { timeout: 240_000 }, async () => {
  await expect(checkCommitOrder({ instances: [tested.server], writers: 8, readers: 4, rows: 20_000, rowsPerChangeset: 10 })).resolves.toBeUndefined();
});
