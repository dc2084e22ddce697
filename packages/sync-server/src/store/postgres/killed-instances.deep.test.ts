import { expect, it } from 'vitest';
import { checkKilledInstances } from '../../../testing/killed-instances.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';

const postgres = postgresUnderTest();

it('keeps every acknowledged changeset exactly once through 30 kills of one of two instances', async () => {
  await expect(checkKilledInstances(postgres.server, { changesets: 3_000, kills: 30 })).resolves.toBeUndefined();
});
