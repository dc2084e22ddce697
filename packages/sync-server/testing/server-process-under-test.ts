import { afterEach, beforeEach } from 'vitest';
import { ServerProcess } from './server-process.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

/** A server with hundreds of open databases checkpoints each of them when it stops. */
const END_PATIENCE_MS = 2 * 60_000;

/** Starts a server in a separate process with an empty data directory for each test of a file. */
export function serverProcessUnderTest(): { readonly server: ServerProcess } {
  let folder: string | undefined;
  let server: ServerProcess | undefined;
  beforeEach(async () => {
    folder = temporaryFolder();
    server = await ServerProcess.start(folder);
  });
  afterEach(async () => {
    await server?.signal('SIGTERM');
  }, END_PATIENCE_MS);
  return {
    get server() {
      return server as ServerProcess;
    },
  };
}
