import { checkCommitOrder, type CommitOrderPlan } from './commit-order.ts';
import type { PostgresAccess } from './postgres-access.ts';
import { serverFlags, ServerProcess } from './server-process.ts';
import { SlowLink } from './slow-link.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

/**
 * Maximum delay between the slow instance and PostgreSQL, in each direction. A commit makes three round trips after its
 * order is fixed, so it stays open for about 30 ms. The instance also learns late of commits, both its own and those of
 * others.
 */
const MAX_DELAY_MS = 10;

/** Runs checkCommitOrder with three processes on one PostgreSQL server, one of them with a slow connection. */
export async function checkOrderOfInstances(
  postgres: PostgresAccess,
  plan: Omit<CommitOrderPlan, 'instances'>,
): Promise<void> {
  const { name } = await postgres.createPreparedDatabase();
  const ends: (() => unknown)[] = [];
  const start = async (port?: number): Promise<ServerProcess> => {
    const folder = temporaryFolder();
    const instance = await ServerProcess.start(folder, [
      ...serverFlags(folder),
      '--postgres',
      postgres.urlOf(name, port),
    ]);
    ends.push(() => instance.signal('SIGTERM'));
    return instance;
  };
  try {
    const link = await SlowLink.open(postgres.port, MAX_DELAY_MS, postgres.host);
    ends.push(() => link.close());
    const instances = await Promise.all([undefined, undefined, link.port].map(start));
    await checkCommitOrder({ ...plan, instances });
  } finally {
    for (const end of ends.reverse()) await end();
  }
}
