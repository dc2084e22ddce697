import type { TestProject } from 'vitest/node';
import { postgresOfRun } from './postgres-of-run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The administrator's URL of the PostgreSQL server that servers use. Undefined if they store everything in files. */
    postgresUrl: string | undefined;
    /** The threads of the tests' servers. Undefined if databases run on the accepting thread. */
    threads: number | undefined;
  }
}

/** Provides one PostgreSQL server for all test files of a project. */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await postgresOfRun();
  project.provide('postgresUrl', server.administratorUrl);
  return () => server.stop();
}
