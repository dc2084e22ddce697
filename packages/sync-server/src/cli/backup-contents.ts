import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  databaseFileName,
  databaseIdOfFile,
  databaseIds,
  databasePath,
  databasesDirectory,
  membersPath,
} from '../store/data-directory.ts';
import { FORGOTTEN, isFileChanging } from '../store/file-change.ts';
import { schemaFileNames, schemasDirectory } from '../store/known-schemas.ts';
import { readUnloadedMark, unloadedPath, type UnloadedMark } from '../store/unloaded-mark.ts';

/*
 * What a backup contains of a data directory (store/data-directory.ts):
 *
 *   db-<id>.sqlite             a database
 *   db-<id>.sqlite-unloaded    the mark of a database that only the continuous backup has
 *   db-<id>.sqlite-forgotten   a deletion that the continuous backup has not recorded yet
 *   members.sqlite             members, invitations, revocations
 *   schemas/<hash>.json        the schemas of older versions of the app
 *
 * It omits files that a server creates by itself: page checksums, SQLite's own files, locks, snapshots, records of
 * copies and files that are being received. `-damaged` belongs to a file that is not backed up, and `.replaced-<n>` is
 * kept for the operator.
 */

const MEMBERS = 'members.sqlite';
const SCHEMAS = 'schemas/';

export interface BackedUpFile {
  /** The name in the backup. */
  readonly name: string;
  readonly path: string;
  /** Whether SQLite copies it, because a server may write to it during the copy. */
  readonly isDatabase: boolean;
  readonly unloaded: UnloadedMark | null;
}

export interface BackupContents {
  readonly files: readonly BackedUpFile[];
  /** Files that cannot be backed up now, one sentence each. */
  readonly problems: readonly string[];
}

export function backupContents(dataDir: string): BackupContents {
  const directory = databasesDirectory(dataDir);
  const plain = (name: string, path: string): BackedUpFile => ({ name, path, isDatabase: false, unloaded: null });
  // Schemas come first, so that an interrupted restore leaves no database without its schema.
  const files = schemaFileNames(dataDir).map((name) => plain(SCHEMAS + name, join(schemasDirectory(dataDir), name)));
  const problems: string[] = [];
  for (const databaseId of idsOf(dataDir)) {
    const path = databasePath(dataDir, databaseId);
    const name = databaseFileName(databaseId);
    const unloaded = readUnloadedMark(path);
    if (isFileChanging(path))
      problems.push(
        `${name} is not backed up: it is being replaced or deleted, or a server was killed while it did so`,
      );
    else if (unloaded !== null) files.push({ ...plain(unloadedPath(name), unloadedPath(path)), unloaded });
    else files.push({ name, path, isDatabase: true, unloaded: null });
  }
  for (const name of readdirSync(directory))
    if (name.endsWith(FORGOTTEN)) files.push(plain(name, join(directory, name)));
  if (existsSync(membersPath(dataDir)))
    files.push({ name: MEMBERS, path: membersPath(dataDir), isDatabase: true, unloaded: null });
  return { files, problems };
}

/** A database that is being installed may have no file for a moment. */
function idsOf(dataDir: string): string[] {
  const changing = readdirSync(databasesDirectory(dataDir)).flatMap((name) => {
    const path = /^(db-.+\.sqlite)-changing$/.exec(name)?.[1];
    return path === undefined ? [] : (databaseIdOfFile(path) ?? []);
  });
  return [...new Set([...databaseIds(dataDir, { withMissing: true }), ...changing])].sort();
}

export type BackupEntry =
  | { readonly kind: 'database'; readonly databaseId: string; readonly target: string }
  | { readonly kind: 'members' | 'file'; readonly target: string };

/**
 * Returns the file in the data directory that a name in a backup stands for. Null if no backup contains such a name.
 */
export function readBackupEntry(name: string, dataDir: string): BackupEntry | null {
  if (name === MEMBERS) return { kind: 'members', target: membersPath(dataDir) };
  if (/^schemas\/[\w-]+\.json$/.test(name)) return { kind: 'file', target: join(dataDir, name) };
  if (!/^db-[\w~-]+\.sqlite(?:-unloaded|-forgotten)?$/.test(name)) return null;
  const target = join(dataDir, 'databases', name);
  const databaseId = databaseIdOfFile(name);
  return databaseId === null ? { kind: 'file', target } : { kind: 'database', databaseId, target };
}
