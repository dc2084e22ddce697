import type { TestProject } from 'vitest/node';
import { PostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL URL of the tests' servers. Undefined if they store everything in files. */
    postgresPort: number | undefined;
    /** The threads of the tests' servers. Undefined if databases run on the accepting thread. */
    threads: number | undefined;
  }
}

/** Starts one PostgreSQL server for all test files of a project. */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await PostgresServer.start();
  project.provide('postgresPort', server.port);
  return () => server.stop();
}
