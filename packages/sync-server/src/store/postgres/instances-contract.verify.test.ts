// What several instances and their transactions rely on, at the real PostgreSQL. In `npm test`, the model of the
// simulation passes the same contracts (tests/simulation/postgres/postgres-model.test.ts).

import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { Connections } from '../../postgres/connection.ts';
import { instancesContract } from './instances.contract.ts';
import { transactionsContract } from './transactions.contract.ts';

const postgres = postgresUnderTest();

instancesContract('PostgreSQL', async () => {
  const { url, name } = await postgres.server.createPreparedDatabase();
  const query = (sql: string): Promise<readonly (readonly unknown[])[]> => postgres.server.query(name, sql);
  return {
    connect: () => new Connections(url),
    heads: async () =>
      (await query('SELECT head FROM rockpool.rockpool_commit ORDER BY head')).map(([head]) => Number(head)),
    names: async () => (await query('SELECT name FROM rockpool.accounts ORDER BY name')).map(([one]) => String(one)),
    leaseTo: async (instanceId, forMs) =>
      void (await query(
        `UPDATE rockpool.rockpool_database SET leased_by = '${instanceId}', leased_until = statement_timestamp() + interval '${forMs} ms'`,
      )),
    leaseHolder: async () => (await query('SELECT leased_by FROM rockpool.rockpool_database'))[0]?.[0] as string | null,
    ageCommits: async (byMs) =>
      void (await query(
        `UPDATE rockpool.rockpool_commit SET committed_at = statement_timestamp() - interval '${byMs} ms'`,
      )),
    forgetCommitsBefore: async (head) =>
      void (await query(`DELETE FROM rockpool.rockpool_commit WHERE head < ${head}`)),
    returnTo: async (head) => {
      const [[commitId] = []] = await query(
        `SELECT commit_id::text FROM rockpool.rockpool_commit WHERE head = ${head}`,
      );
      await query(
        `DELETE FROM rockpool.rockpool_commit WHERE head > ${head}; UPDATE rockpool.rockpool_database SET head = ${head}, commit_id = '${String(commitId)}'; DELETE FROM rockpool.accounts WHERE id <> 'x'`,
      );
    },
    deleteAccount: async (id) => void (await query(`DELETE FROM rockpool.accounts WHERE id = '${id}'`)),
    endConnections: async () =>
      void (await query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      )),
  };
});

transactionsContract('PostgreSQL', async () => {
  const { url, name } = await postgres.server.createPreparedDatabase();
  return {
    connections: new Connections(url),
    countWaiting: async () => {
      const [row] = await postgres.server.query(
        name,
        // A coordinator of Citus reads from the server where the statement waits.
        `SELECT count(*) FROM pg_stat_activity WHERE datname = '${name}' AND (wait_event_type = 'Lock'
           OR state = 'active' AND wait_event = 'ClientRead' AND query LIKE '%FOR UPDATE' AND EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus'))`,
      );
      return Number(row?.[0]);
    },
  };
});
