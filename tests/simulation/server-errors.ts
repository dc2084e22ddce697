import { RockpoolError, type ErrorCode } from '#shared/index.ts';
import { storeFailure } from '#sync-server/store/store-failure.ts';
import { DISK_FAILURE } from './server-disk.ts';

/** Errors that end sessions, and that a run counts. */
export const ENDS_TO_COUNT: ReadonlySet<string> = new Set<ErrorCode>([
  'auth-database-forbidden',
  'auth-forbidden',
  'auth-token-expired',
  'quota-exceeded',
  'slow-consumer',
]);

/** Error codes of a faulty server or client. Honest clients never receive them. */
export const BUGS: ReadonlySet<string> = new Set([
  'changeset-chain-broken',
  'changeset-invalid',
  'frame-invalid',
  'frame-unexpected',
  'frame-too-large',
  'internal',
]);

/** The errors of `durableOnceSynced` for a failed sync, and for a database that was given up after one. */
export function isDiskFailure(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.message === DISK_FAILURE ||
      (error instanceof RockpoolError && error.code === 'database-unavailable' && isDiskFailure(error.cause)))
  );
}

export function isFullDisk(error: unknown): boolean {
  return storeFailure(error).code === 'server-disk-full';
}
