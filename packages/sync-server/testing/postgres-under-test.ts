import { afterAll, beforeAll, inject } from 'vitest';
import type {} from './postgres-for-all.ts';
import { PostgresAccess } from './postgres-access.ts';
import { urlBehind } from './postgres-on-demand.ts';
import { PostgresServer } from './postgres-server.ts';

/** The PostgreSQL server that all test files of a run share. Tests create databases of their own in it. */
export function postgresUnderTest(): { readonly server: PostgresAccess } {
  let server: PostgresAccess | undefined;
  beforeAll(async () => {
    const url = inject('postgresUrl');
    const door = inject('postgresDoor');
    if (url === undefined && door === undefined) throw new Error('this test project has no PostgreSQL');
    server = new PostgresAccess(url ?? (await urlBehind(door as number)));
  });
  return {
    get server() {
      return server as PostgresAccess;
    },
  };
}

/** A PostgreSQL server that only this test file uses, and which its tests may kill. */
export function mortalPostgresUnderTest(): { readonly server: PostgresServer } {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server?.stop();
  });
  return {
    get server() {
      return server as PostgresServer;
    },
  };
}
