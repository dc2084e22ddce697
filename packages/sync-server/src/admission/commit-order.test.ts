import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { checkCommitOrder } from '../../testing/commit-order.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const tested = serverUnderTest();

it('concurrent commits do not become visible below the cursor of a reader', async () => {
  await expect(
    checkCommitOrder({
      instances: [tested.server],
      writers: 8,
      readers: 4,
      rows: atLevel({ test: 3_000, verify: 20_000 }),
      rowsPerChangeset: 10,
    }),
  ).resolves.toBeUndefined();
});
