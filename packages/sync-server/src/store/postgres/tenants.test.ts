import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { createSyncServer } from '../../create-sync-server.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { TEST_SCHEMA } from '../../../testing/test-schema.ts';
import { SEEN_EVERYWHERE } from '../../../testing/tenants/tenant-trial.ts';
import { runTenantsOfInstances } from '../../../testing/tenants/tenants-of-instances.ts';
import { TEST_SECRET } from '../../../testing/test-server.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';

const postgres = postgresUnderTest();

it('two instances that share one connection to PostgreSQL send no byte of one tenant to another', async () => {
  expect(await runTenantsOfInstances(postgres.server, atLevel({ test: 25, verify: 75 }))).toEqual(SEEN_EVERYWHERE);
});

it('a limit of fewer than two connections to PostgreSQL is rejected before anything is opened', () => {
  const folder = temporaryFolder();
  const start = (): unknown =>
    createSyncServer({
      dataDir: folder,
      schema: TEST_SCHEMA,
      secret: TEST_SECRET,
      postgres: 'postgresql://nowhere',
      postgresConnections: 1,
    });
  expect(start).toThrowError(expect.objectContaining({ code: 'config-invalid' }) as Error);
});
