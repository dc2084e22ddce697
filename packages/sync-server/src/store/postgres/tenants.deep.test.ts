import { expect, it } from 'vitest';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { SEEN_EVERYWHERE } from '../../../testing/tenants/tenant-trial.ts';
import { runTenantsOfInstances } from '../../../testing/tenants/tenants-of-instances.ts';

const postgres = postgresUnderTest();

it(
  'never sends a tenant a byte of another in 2,000 histories when two instances share one connection to PostgreSQL',
  { timeout: 3_600_000 },
  async () => {
    expect(await runTenantsOfInstances(postgres.server, 2_000)).toEqual(SEEN_EVERYWHERE);
  },
);
