import { existsSync, lchownSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Gives the files of a data directory to the owner of the directory, if root runs the command. With the systemd unit
 * only root can reach the directory, and the user of the server could not write what a command has created.
 */
export function keepOwner(dataDir: string): void {
  if (process.geteuid?.() !== 0 || !existsSync(dataDir)) return;
  const { uid, gid } = statSync(dataDir);
  if (uid === 0) return;
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    // A file with two names may be one from outside, which is not the server's.
    if (facts === undefined || facts.uid === uid || (facts.isFile() && facts.nlink > 1)) continue;
    lchownSync(path, uid, gid);
  }
}
