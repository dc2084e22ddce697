import { PostgresAccess } from './postgres-access.ts';

/** The PostgreSQL server of a test run. */
export interface PostgresOfRun {
  readonly administratorUrl: string;
  stop(): Promise<void>;
}

/** Uses the server that ROCKPOOL_TEST_POSTGRES names. Without this variable, starts one. */
export async function postgresOfRun(): Promise<PostgresOfRun> {
  const administratorUrl = process.env['ROCKPOOL_TEST_POSTGRES'];
  if (administratorUrl === undefined || administratorUrl === '')
    return (await import('./postgres-server.ts')).PostgresServer.start();
  const access = new PostgresAccess(administratorUrl);
  await access.createRole();
  return { administratorUrl, stop: () => access.dropDatabases() };
}
