import { expect, it } from 'vitest';
import { checkKilledInstances } from '../../../testing/killed-instances.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';

const postgres = postgresUnderTest();

it('has every acknowledged changeset after 30 kills of one instance of two, each exactly once', async () => {
  await expect(checkKilledInstances(postgres.server, { changesets: 3_000, kills: 30 })).resolves.toBeUndefined();
});
