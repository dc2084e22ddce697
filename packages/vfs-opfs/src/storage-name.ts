import { StorageError } from './storage-error.ts';

const ALLOWED = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;
const DATABASE_SUFFIX = '.sqlite';

/**
 * Names become file names and lock names, so they consist of at most 200 letters, digits, dots, dashes and underscores.
 */
export function isStorageName(name: string): boolean {
  return ALLOWED.test(name);
}

/** Throws `storage-name-invalid`. */
export function checkStorageName(name: string): void {
  if (!isStorageName(name))
    throw new StorageError('storage-name-invalid', { allowed: 'A-Z a-z 0-9 . _ -, at most 200' });
}

/** The SQLite file and the two segments of its log. */
export function storageFileNames(name: string): readonly [string, string, string] {
  return [`${name}${DATABASE_SUFFIX}`, `${name}${DATABASE_SUFFIX}-log0`, `${name}${DATABASE_SUFFIX}-log1`];
}

/** Returns the storage that a database file belongs to; `undefined` for log segments and other files. */
export function storageNameOf(fileName: string): string | undefined {
  if (!fileName.endsWith(DATABASE_SUFFIX)) return undefined;
  const name = fileName.slice(0, -DATABASE_SUFFIX.length);
  return isStorageName(name) ? name : undefined;
}

/** Returns the storage that a file belongs to: a database, a log segment, or a staged import and its log. */
export function ownerOf(fileName: string): string {
  return fileName.replace(/(~import)?\.sqlite(-log[01])?$/, '');
}

/**
 * The name under which an import is prepared before it replaces `name`. `checkStorageName` rejects it for storages, so
 * it is never listed.
 */
export function stagedName(name: string): string {
  return `${name}~import`;
}
