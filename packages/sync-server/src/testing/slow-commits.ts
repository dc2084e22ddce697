import { checkCommitOrder, type CommitOrderPlan } from './commit-order.ts';
import type { PostgresServer } from './postgres-server.ts';
import { temporaryFolder, TestServer } from './test-server.ts';

/** Up to 5 ms between the number that a commit has taken and its end: where two could hold numbers at once, the later would often be seen first. */
const SLOW_COMMITS = `
CREATE FUNCTION rockpool.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(random() * 0.005); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON rockpool.rockpool_commit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION rockpool.slow();`;

/** See commit-order.ts: three instances on one PostgreSQL whose commits take a while, each another one. */
export async function checkOrderOfInstances(postgres: PostgresServer, plan: Omit<CommitOrderPlan, 'servers'>): Promise<void> {
  const { url, name } = await postgres.createDatabase();
  const folders = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const servers = await Promise.all(folders.map(({ path }) => TestServer.start(path, { postgres: url })));
  try {
    await Promise.all(servers.map(({ sync }) => sync.ready()));
    await postgres.query(name, SLOW_COMMITS);
    await checkCommitOrder({ ...plan, servers });
  } finally {
    for (const server of servers) await server.stop();
    for (const folder of folders) folder.remove();
  }
}
