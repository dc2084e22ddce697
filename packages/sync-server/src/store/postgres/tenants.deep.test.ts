import { expect, it } from 'vitest';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { SEEN_EVERYWHERE } from '../../../testing/tenants/tenant-trial.ts';
import { runTenantsOfInstances } from '../../../testing/tenants/tenants-of-instances.ts';

const postgres = postgresUnderTest();

it(
  'two instances that share one connection to PostgreSQL send no byte of one tenant to another in 2,000 histories',
  { timeout: 3_600_000 },
  async () => {
    expect(await runTenantsOfInstances(postgres.server, 2_000)).toEqual(SEEN_EVERYWHERE);
  },
);
