import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest';
import type { SyncServerOptions } from '../src/sync-server.ts';
import { PostgresAccess } from './postgres-access.ts';
import type {} from './postgres-for-all.ts';
import { TestServer } from './test-server.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

type Options = Partial<SyncServerOptions>;

/**
 * Starts a server with an empty data directory for each test of a file: with files, with PostgreSQL in the project
 * `postgres`, or with threads that own databases in the project `threads`.
 */
export function serverUnderTest(options: Options = {}): {
  readonly server: TestServer;
  restart(meanwhile?: () => void): Promise<void>;
} {
  let folder: string | undefined;
  let server: TestServer | undefined;
  let postgres: Options = {};
  const start = async (): Promise<void> => {
    server = await startServer(folder as string, options, postgres);
  };
  beforeEach(async () => {
    folder = temporaryFolder();
    postgres = await emptyPostgres();
    await start();
  });
  afterEach(async () => {
    await server?.stop();
  });
  return {
    get server() {
      return server as TestServer;
    },
    restart: async (meanwhile) => {
      await server?.stop();
      meanwhile?.();
      await start();
    },
  };
}

/**
 * Starts one server like `serverUnderTest` for all tests of a file, each of which uses databases of its own. Starting a
 * server takes longer than a request.
 */
export function sharedServerUnderTest(options: Options = {}): { readonly server: TestServer } {
  const folder = temporaryFolder();
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await startServer(folder, options, await emptyPostgres());
  });
  afterAll(async () => {
    await server?.stop();
  });
  return {
    get server() {
      return server as TestServer;
    },
  };
}

async function startServer(folder: string, options: Options, postgres: Options): Promise<TestServer> {
  const threads = options.validate === undefined ? inject('threads') : undefined;
  const server = await TestServer.start(folder, {
    ...(threads !== undefined && { threads }),
    ...options,
    ...postgres,
  });
  await server.sync.ready();
  return server;
}

async function emptyPostgres(): Promise<Options> {
  const url = inject('postgresUrl');
  return url === undefined ? {} : { postgres: (await new PostgresAccess(url).createDatabase()).url };
}
