import { afterAll, beforeAll } from 'vitest';
import { PostgresServer } from './postgres-server.ts';

/** Starts one PostgreSQL for the tests of a file. */
export function postgresUnderTest(): { readonly server: PostgresServer } {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
  });
  return {
    get server() {
      return server as PostgresServer;
    },
  };
}
