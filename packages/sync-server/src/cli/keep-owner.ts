import { existsSync, lchownSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Gives the files of a data directory to the owner of the directory, if root runs the command. With the systemd unit
 * only root can reach the directory, and the user of the server could not write what a command has created. The caller
 * holds the lock of the directory: a server could replace a folder with a symbolic link during the walk.
 */
export function keepOwner(dataDir: string): void {
  if (process.geteuid?.() !== 0 || !existsSync(dataDir)) return;
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true }))
    keepOwnerOf(join(entry.parentPath, entry.name), dataDir);
}

/**
 * Does the same for one file. Needs no lock for a file directly in the directory: its path has no folder that could be
 * replaced with a link, and `lchown` follows none at its end.
 */
export function keepOwnerOf(path: string, dataDir: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  const facts = lstatSync(path, { throwIfNoEntry: false });
  // A file with several hard links may also be a file outside the directory, which does not belong to the server.
  if (uid === 0 || facts === undefined || facts.uid === uid || (facts.isFile() && facts.nlink > 1)) return;
  lchownSync(path, uid, gid);
}
