import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { checkOrderOfInstances } from '../../../testing/slow-instances.ts';

const postgres = postgresUnderTest();

it('makes nothing visible behind the cursor of a reader that moves between three instances, one of which commits slowly', async () => {
  await expect(
    checkOrderOfInstances(postgres.server, {
      writers: 6,
      readers: 3,
      rows: atLevel({ test: 2_000, verify: 6_000 }),
      rowsPerChangeset: 10,
    }),
  ).resolves.toBeUndefined();
});
