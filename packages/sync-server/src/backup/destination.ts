import { RockpoolError } from '@rockpool/shared';

/** An object of a destination. */
export interface StoredObject {
  readonly key: string;
  readonly sizeBytes: number;
}

/**
 * Where the copies of databases are kept: a folder or S3-compatible storage. A key is a path of names of letters,
 * digits and `._~-`, separated by `/`. Every call rejects with `backup-unavailable` if the destination cannot be
 * reached or refuses. Every implementation passes destination.contract.ts.
 */
export interface Destination {
  /** The name for log lines, without credentials. */
  readonly name: string;
  /**
   * Stores an object, and replaces any object with the same key. Once this resolves, the object is durable and
   * complete.
   */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Null if there is no such object. */
  get(key: string): Promise<Uint8Array | null>;
  /** The objects whose keys begin with `prefix`, in order of their keys (by code unit). */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Deletes objects. Keys without an object are ignored. */
  delete(keys: readonly string[]): Promise<void>;
  /** Rejects the requests that wait for a response, and all later ones, so that a server can stop. */
  close?(): void;
}

/** The destination cannot be reached, or refuses. `status` is the HTTP status. */
export function unavailable(
  destination: string,
  operation: string,
  { status, cause }: { readonly status?: number; readonly cause?: unknown },
): RockpoolError {
  const systemCode = systemCodeOf(cause);
  return new RockpoolError(
    'backup-unavailable',
    {
      destination,
      operation,
      ...(status !== undefined && { status }),
      ...(systemCode !== null && { systemCode }),
    },
    cause === undefined ? {} : { cause },
  );
}

/** The code of a failed system call, also of the cause of an error from `fetch`. */
function systemCodeOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null;
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code;
  if (thrown.name === 'TimeoutError') return 'ETIMEDOUT';
  return systemCodeOf(thrown.cause);
}
