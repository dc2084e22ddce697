import type { PostgresAccess } from '../postgres-access.ts';
import { TestServer } from '../test-server.ts';
import type { CanaryForm } from './canary.ts';
import { TenantTrial } from './tenant-trial.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

const INSTANCES = 2;

/** One connection to work with, shared by all tenants of an instance, and one that listens. */
const CONNECTIONS = 2;

/** A trial of tenants on two instances with PostgreSQL, each with the minimum number of connections. */
export async function runTenantsOfInstances(
  postgres: PostgresAccess,
  histories: number,
): Promise<Record<string, readonly CanaryForm[]>> {
  const trial = new TenantTrial();
  const { url } = await postgres.createDatabase();
  const folders = Array.from({ length: INSTANCES }, temporaryFolder);
  const servers: TestServer[] = [];
  try {
    for (const path of folders)
      servers.push(await TestServer.start(path, { ...trial.options, postgres: url, postgresConnections: CONNECTIONS }));
    for (const { sync } of servers) await sync.ready();
    return await trial.run(servers, histories);
  } finally {
    for (const server of servers) await server.stop();
  }
}
