import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/support/level.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { checkOrderOfInstances } from '../../../testing/slow-instances.ts';

const postgres = postgresUnderTest();

it(
  'nothing becomes visible behind the cursor of a reader who goes from one of three instances to the next, of which one is slow to commit',
  { timeout: 240_000 },
  async () => {
    await expect(
      checkOrderOfInstances(postgres.server, {
        writers: 6,
        readers: 3,
        rows: atLevel({ test: 2_000, verify: 6_000 }),
        rowsPerChangeset: 10,
      }),
    ).resolves.toBeUndefined();
  },
);
