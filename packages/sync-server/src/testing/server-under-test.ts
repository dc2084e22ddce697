import { afterEach, beforeEach } from 'vitest';
import type { SyncServerOptions } from '../create-sync-server.ts';
import { temporaryFolder, TestServer } from './test-server.ts';

/** A fresh server with an empty data directory for each test of a file. */
export function serverUnderTest(options: Partial<SyncServerOptions> = {}): { readonly server: TestServer; restart(): Promise<void> } {
  let folder: ReturnType<typeof temporaryFolder> | undefined;
  let server: TestServer | undefined;
  const start = async (): Promise<void> => {
    server = await TestServer.start((folder as ReturnType<typeof temporaryFolder>).path, options);
  };
  beforeEach(async () => {
    folder = temporaryFolder();
    await start();
  });
  afterEach(async () => {
    await server?.stop();
    folder?.remove();
  });
  return {
    get server() {
      return server as TestServer;
    },
    restart: async () => {
      await server?.stop();
      await start();
    },
  };
}
