// Evolu's relay keeps what clients send, encrypted, in SQLite. This is the relay of Evolu 8: that of Evolu 7 can no
// longer be installed, and both speak the same protocol.
import { createConsole, ok } from '@evolu/common';
import { createRelayDeps, createRun, startRelay } from '@evolu/nodejs';
import { openEvoluDriver } from './evolu-sqlite.ts';

export async function startEvoluRelay(port: number, folder: string): Promise<void> {
  process.chdir(folder);
  const createSqliteDriver = (name: string) => () => ok(openEvoluDriver(`${name}.db`).driver);
  const run = createRun({ ...createRelayDeps(), createSqliteDriver, console: createConsole() });
  await run.orThrow(startRelay({ port, isOwnerWithinQuota: () => true }));
}
