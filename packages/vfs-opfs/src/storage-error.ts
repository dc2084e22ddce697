/**
 * Every expected failure of this package. A caller acts on `code`; `message` is for people.
 *
 * | code | meaning | what helps |
 * |---|---|---|
 * | `storage-busy` | another tab or worker holds what was asked for | retry, or open as reader |
 * | `storage-missing` | a reader found no database, and no writer made one in time | retry once a writer is open |
 * | `storage-unsupported` | this browser or context lacks something; `fields.missing` lists it | another medium, chosen
 * by the app |
 * | `storage-full` | the quota, the disk, or with `fields.limit` 'memory' the budget of IndexedDB's medium is full |
 * free space; nothing acknowledged is lost |
 * | `storage-lost` | the browser took the file handles away | open again |
 * | `storage-corrupt` | the file is not a SQLite database, or is cut off; nothing was changed | `quarantineStorage`,
 * then start anew or restore; or for an import, another file |
 * | `storage-newer` | a newer version of this package wrote it; nothing was changed | load that version of the app |
 * | `storage-ephemeral` | this window is private and keeps nothing | another window, or the memory medium if the app
 * asks for it |
 * | `storage-snapshot-lost` | this reader slept through a forced WAL checkpoint | run the read again |
 * | `storage-name-invalid` | the name cannot be a file name | another name |
 * | `storage-closed` | the storage was closed before this call | a bug in the caller |
 * | `storage-failed` | any other failure of the medium; `fields.reason` is the name of its exception | open again |
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

/** A failure of the storage, with a `code` to act upon and `fields` that survive being sent to another thread. */
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

/** What an exception of a browser's file interface means to us. */
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
