import { existsSync, readdirSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Older demos kept the sync server's directory one level deeper: `databases/databases/`. Moves those files to the
 * current location. Each file is moved by one rename, so the next start continues an interrupted move.
 */
export function leaveOldLayout(dataFolder: string): void {
  const directory = join(dataFolder, 'databases');
  const deeper = join(directory, 'databases');
  if (!existsSync(deeper)) return;
  // Moves the write-ahead log before its database: without its log, the database would lack its newest commits.
  for (const name of readdirSync(deeper).sort((a, b) => Number(b.endsWith('-wal')) - Number(a.endsWith('-wal'))))
    renameSync(join(deeper, name), join(directory, name));
  for (const name of readdirSync(directory).filter((one) => one.startsWith('members.sqlite')))
    renameSync(join(directory, name), join(dataFolder, name));
  rmSync(join(directory, 'server.lock'), { force: true });
  rmdirSync(deeper);
}
