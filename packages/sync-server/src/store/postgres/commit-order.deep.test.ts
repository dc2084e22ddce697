import { expect, it } from 'vitest';
import { checkCommitOrder } from '../../../testing/commit-order.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { serverUnderTest } from '../../../testing/server-under-test.ts';
import { checkOrderOfInstances } from '../../../testing/slow-instances.ts';

const postgres = postgresUnderTest();
const onFiles = serverUnderTest();

const FULL_SIZE = { writers: 32, readers: 16, rows: 1_000_000, rowsPerChangeset: 25 };
const HOUR_MS = 3_600_000;

it(
  'three instances on PostgreSQL, including a slow one, make no row visible below the cursor of any of 16 readers while 32 writers write 1,000,000 rows',
  async () => {
    await expect(checkOrderOfInstances(postgres.server, FULL_SIZE)).resolves.toBeUndefined();
  },
  HOUR_MS,
);

it(
  'one server on files makes no row visible below the cursor of any of 16 readers',
  async () => {
    await expect(checkCommitOrder({ ...FULL_SIZE, instances: [onFiles.server] })).resolves.toBeUndefined();
  },
  HOUR_MS,
);
