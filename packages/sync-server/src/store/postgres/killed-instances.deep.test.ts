import { expect, it } from 'vitest';
import { checkKilledInstances } from '../../../testing/killed-instances.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';

const postgres = postgresUnderTest();

it('two instances keep every acknowledged changeset exactly once through 30 kills of one of them', async () => {
  await expect(checkKilledInstances(postgres.server, { changesets: 3_000, kills: 30 })).resolves.toBeUndefined();
});
