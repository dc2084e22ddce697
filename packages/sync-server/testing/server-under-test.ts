import { afterEach, beforeEach, inject } from 'vitest';
import type { SyncServerOptions } from '../src/sync-server.ts';
import { createPostgresDatabase } from './postgres-server.ts';
import type {} from './postgres-for-all.ts';
import { TestServer } from './test-server.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

/**
 * Starts a server with an empty data directory for each test of a file: with files, with PostgreSQL in the project
 * `postgres`, or with threads that own databases in the project `threads`.
 */
export function serverUnderTest(options: Partial<SyncServerOptions> = {}): {
  readonly server: TestServer;
  restart(meanwhile?: () => void): Promise<void>;
} {
  let folder: string | undefined;
  let server: TestServer | undefined;
  let postgres: Partial<SyncServerOptions> = {};
  const start = async (): Promise<void> => {
    const threads = options.validate === undefined ? inject('threads') : undefined;
    server = await TestServer.start(folder as string, {
      ...(threads !== undefined && { threads }),
      ...options,
      ...postgres,
    });
    await server.sync.ready();
  };
  beforeEach(async () => {
    folder = temporaryFolder();
    const port = inject('postgresPort');
    if (port !== undefined) postgres = { postgres: (await createPostgresDatabase(port)).url };
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
