import { checkCommitOrder, type CommitOrderPlan } from './commit-order.ts';
import type { PostgresServer } from './postgres-server.ts';
import { serverFlags, ServerProcess } from './server-process.ts';
import { SlowLink } from './slow-link.ts';
import { temporaryFolder } from './test-server.ts';

/**
 * How long whatever goes between the slow instance and PostgreSQL may take, each way. A commit goes back and forth
 * three times after it has taken its place in the order, so it stays open for some 30 ms; the instance hears late of
 * what others have committed, and of what itself has.
 */
const MAX_DELAY_MS = 10;

/**
 * See commit-order.ts: three instances on one PostgreSQL, processes of their own, one of them with a slow line to it.
 */
export async function checkOrderOfInstances(
  postgres: PostgresServer,
  plan: Omit<CommitOrderPlan, 'instances'>,
): Promise<void> {
  const { name } = await postgres.createDatabase();
  const ends: (() => unknown)[] = [];
  const start = async (port: number): Promise<ServerProcess> => {
    const folder = temporaryFolder();
    ends.push(() => folder.remove());
    const instance = await ServerProcess.start(folder.path, [
      ...serverFlags(folder.path),
      '--postgres',
      postgres.urlOf(name, port),
    ]);
    ends.push(() => instance.signal('SIGTERM'));
    return instance;
  };
  try {
    const logHash = await SlowLink.open(postgres.port, MAX_DELAY_MS);
    ends.push(() => logHash.close());
    const instances = await Promise.all([postgres.port, postgres.port, logHash.port].map(start));
    await checkCommitOrder({ ...plan, instances });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
