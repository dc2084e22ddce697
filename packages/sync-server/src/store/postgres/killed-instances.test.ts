import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { checkKilledInstances } from '../../../testing/killed-instances.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';

const postgres = postgresUnderTest();

it('keeps every acknowledged changeset exactly once when one of two instances is killed during a commit, and the other continues', async () => {
  await expect(
    checkKilledInstances(
      postgres.server,
      atLevel({ test: { changesets: 100, kills: 1 }, verify: { changesets: 300, kills: 3 } }),
    ),
  ).resolves.toBeUndefined();
});
