import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { encodeSchema } from '@rockpool/shared';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { AdminJobs } from './admin-jobs.ts';

it('a job whose process is killed, for example for lack of memory, fails with that reason', async () => {
  const path = join(temporaryFolder(), 'a.sqlite');
  openDatabaseFile(path, TEST_SCHEMA, { databaseId: 'a' }).sql.close();
  const jobs = new AdminJobs({ pathOf: () => path, backup: null, postgres: null, schema: encodeSchema(TEST_SCHEMA) });
  onTestFinished(() => jobs.close());
  const failure = jobs.inspect('a').then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
  const { processes } = jobs as unknown as { readonly processes: ReadonlySet<ChildProcess> };
  for (const child of processes) child.kill('SIGKILL');
  expect(await failure).toMatchObject({
    code: 'database-unavailable',
    fields: { problem: expect.stringContaining('ended unexpectedly (SIGKILL)') as string },
  });
  expect(await jobs.inspect('a')).toMatchObject({ summary: { watermark: 0 } });
  const stopped = jobs.inspect('a').catch((error: unknown) => error);
  await jobs.close();
  expect(await stopped).toMatchObject({ fields: { problem: 'the server is stopping' } });
});
