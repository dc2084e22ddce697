import { expect, it } from 'vitest';
import { createSyncServer } from '../../create-sync-server.ts';
import { TEST_SCHEMA } from '../../../testing/test-schema.ts';
import { TEST_SECRET } from '../../../testing/test-server.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';

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
