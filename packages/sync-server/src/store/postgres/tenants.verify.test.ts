import { expect, it } from 'vitest';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { SEEN_EVERYWHERE } from '../../../testing/tenants/tenant-trial.ts';
import { runTenantsOfInstances } from '../../../testing/tenants/tenants-of-instances.ts';

const postgres = postgresUnderTest();

it('two instances that share one connection to PostgreSQL send no byte of one tenant to another', async () => {
  expect(await runTenantsOfInstances(postgres.server, 75)).toEqual(SEEN_EVERYWHERE);
});
