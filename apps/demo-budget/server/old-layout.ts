import { existsSync, readdirSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The demo used to keep the sync server's directory one level deeper: `databases/databases/`. Moves what lies there to
 * where it is looked for now. Each file is moved by one rename, so a start that is interrupted goes on where it was.
 */
export function leaveOldLayout(dataFolder: string): void {
  const directory = join(dataFolder, 'databases');
  const deeper = join(directory, 'databases');
  if (!existsSync(deeper)) return;
  // The log beside a database goes first: found without it, the file would lack its newest commits.
  for (const name of readdirSync(deeper).sort((a, b) => Number(b.endsWith('-wal')) - Number(a.endsWith('-wal'))))
    renameSync(join(deeper, name), join(directory, name));
  for (const name of readdirSync(directory).filter((one) => one.startsWith('members.sqlite')))
    renameSync(join(directory, name), join(dataFolder, name));
  rmSync(join(directory, 'server.lock'), { force: true });
  rmdirSync(deeper);
}
