/**
 * Every expected failure of this package, by code. Callers act on `code`; `message` is for people.
 *
 * - `storage-busy`: another tab or worker holds the lock or the file. Retry, or open as a reader.
 * - `storage-missing`: a reader found no database, and no writer created one in time. Retry once a writer is open.
 * - `storage-unsupported`: the browser or context lacks what `fields.missing` lists. The app may choose another medium.
 * - `storage-full`: the quota or the disk is full, or the memory budget of the IndexedDB medium (`fields.limit` is
 *   `'memory'`). Free space; every acknowledged commit is kept.
 * - `storage-lost`: the browser took the file handles away. Open again.
 * - `storage-corrupt`: the file is not a SQLite database or is truncated; nothing was changed. Call
 *   `quarantineStorage`, then create or restore the database; for an import, choose a different file.
 * - `storage-newer`: a newer version of this package wrote the file; nothing was changed. Load that version of the app.
 * - `storage-ephemeral`: this window is private and keeps nothing. Use another window, or the memory medium if the app
 *   asks for it.
 * - `storage-snapshot-lost`: a forced WAL checkpoint overtook this reader. Run the read again.
 * - `storage-name-invalid`: the name cannot be a file name. Choose a different name.
 * - `storage-closed`: the storage was closed before this call, which is a bug in the caller.
 * - `storage-failed`: any other failure of the medium; `fields.reason` is the name of its exception. Open again.
 */
export type StorageErrorCode =
  | 'storage-busy'
  | 'storage-missing'
  | 'storage-unsupported'
  | 'storage-full'
  | 'storage-lost'
  | 'storage-corrupt'
  | 'storage-newer'
  | 'storage-ephemeral'
  | 'storage-snapshot-lost'
  | 'storage-name-invalid'
  | 'storage-closed'
  | 'storage-failed';

/** Facts about a failure: sizes, names of operations, capabilities. Never row data. */
export type StorageErrorFields = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A storage failure with a `code` to act on. `fields` survive being sent to another thread. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;
  readonly fields: StorageErrorFields;

  constructor(code: StorageErrorCode, fields: StorageErrorFields = {}) {
    super(`${code}${describe(fields)}`);
    this.name = 'StorageError';
    this.code = code;
    this.fields = fields;
  }
}

function describe(fields: StorageErrorFields): string {
  const parts = Object.entries(fields).map(
    ([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  );
  return parts.length === 0 ? '' : `: ${parts.join('; ')}`;
}

/** Translates an exception of a browser's file interface. */
export function errorFromMedium(cause: unknown, operation: string): StorageError {
  if (cause instanceof StorageError) return cause;
  const reason = cause instanceof Error || cause instanceof DOMException ? cause.name : 'unknown';
  switch (reason) {
    case 'QuotaExceededError':
      return new StorageError('storage-full', { operation });
    case 'InvalidStateError':
      return new StorageError('storage-lost', { operation });
    case 'NoModificationAllowedError':
      return new StorageError('storage-busy', { operation });
    case 'VersionError':
      return new StorageError('storage-newer', { operation });
    default:
      return new StorageError('storage-failed', { operation, reason });
  }
}
