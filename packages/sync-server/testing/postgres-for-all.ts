import type { TestProject } from 'vitest/node';
import { PostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the tests' servers keep everything; undefined: in files. */
    postgresPort: number | undefined;
  }
}

/** One PostgreSQL for all files of a project. */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await PostgresServer.start();
  project.provide('postgresPort', server.port);
  return () => server.stop();
}
