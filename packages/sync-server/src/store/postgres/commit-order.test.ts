import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { checkOrderOfInstances } from '../../../testing/slow-instances.ts';

const postgres = postgresUnderTest();

it('three instances, including one that commits slowly, make no row visible below the cursor of a reader that moves between them', async () => {
  await expect(
    checkOrderOfInstances(postgres.server, {
      writers: 6,
      readers: 3,
      rows: atLevel({ test: 1_000, verify: 6_000 }),
      rowsPerChangeset: 10,
    }),
  ).resolves.toBeUndefined();
});
