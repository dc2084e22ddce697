import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { checkKilledInstances } from '../../../testing/killed-instances.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';

const postgres = postgresUnderTest();

it('two instances keep every acknowledged changeset exactly once if one is killed during a commit and the other continues', async () => {
  await expect(
    checkKilledInstances(
      postgres.server,
      atLevel({ test: { changesets: 100, kills: 1 }, verify: { changesets: 300, kills: 3 } }),
    ),
  ).resolves.toBeUndefined();
});
