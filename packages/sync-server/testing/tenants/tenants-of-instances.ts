import type { PostgresServer } from '../postgres-server.ts';
import { temporaryFolder, TestServer } from '../test-server.ts';
import type { CanaryForm } from './canary.ts';
import { TenantTrial } from './tenant-trial.ts';

const INSTANCES = 2;

/** One to work with, and one that listens: all tenants at an instance share it. */
const CONNECTIONS = 2;

/** A trial of tenants who use two instances on PostgreSQL, each with as few connections as there can be. */
export async function runTenantsOfInstances(
  postgres: PostgresServer,
  histories: number,
): Promise<Record<string, readonly CanaryForm[]>> {
  const trial = new TenantTrial();
  const { url } = await postgres.createDatabase();
  const folders = Array.from({ length: INSTANCES }, temporaryFolder);
  const servers: TestServer[] = [];
  try {
    for (const { path } of folders)
      servers.push(await TestServer.start(path, { ...trial.options, postgres: url, postgresConnections: CONNECTIONS }));
    for (const { sync } of servers) await sync.ready();
    return await trial.run(servers, histories);
  } finally {
    for (const server of servers) await server.stop();
    for (const folder of folders) folder.remove();
  }
}
