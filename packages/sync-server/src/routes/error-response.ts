import type { ErrorCode } from '@rockpool/shared';
import { toStoreError } from '../store/store-failure.ts';

const STATUS_OF_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  'auth-database-forbidden': 403,
  'auth-forbidden': 403,
  'auth-origin-refused': 403,
  'auth-site-refused': 403,
  'auth-token-expired': 401,
  'auth-token-invalid': 401,
  'auth-unavailable': 503,
  'backup-unavailable': 503,
  'database-damaged': 503,
  'database-fetching': 503,
  'database-unavailable': 503,
  'frame-too-large': 413,
  'history-moment-gone': 410,
  'history-not-kept': 404,
  'history-version-gone': 410,
  internal: 500,
  'quota-exceeded': 403,
  'rate-limited': 429,
  'server-disk-full': 503,
  'too-many-connections': 503,
};

/** Converts an error to a response with the body `{ code, fields, recovery, message }`, which is never cached. */
export function errorResponse(thrown: unknown): Response {
  const error = toStoreError(thrown);
  return Response.json(error.toData(), {
    status: STATUS_OF_CODE[error.code] ?? 400,
    headers: { 'cache-control': 'no-store' },
  });
}
