import { ERROR_CODES } from '@rockpool/shared';
import { StorageError, type StorageErrorCode } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import { storageFailure } from './storage-failure.ts';

describe('a failure of the storage', () => {
  it('keeps its fields, and its code if the client has the same one', () => {
    const codes: StorageErrorCode[] = [
      'storage-busy',
      'storage-missing',
      'storage-unsupported',
      'storage-full',
      'storage-lost',
      'storage-corrupt',
    ];
    for (const code of codes) expect(storageFailure(new StorageError(code)).code).toBe(code);
    expect(storageFailure(new StorageError('storage-newer', { logFormat: 2, supported: 1 }))).toMatchObject({
      code: 'database-newer',
      recovery: 'upgrade',
      fields: { logFormat: 2, supported: 1 },
    });
    const error = storageFailure(
      new StorageError('storage-unsupported', { medium: 'opfs-shared', missing: ['Web Locks', 'OPFS'] }),
    );
    expect(error.fields).toEqual({ medium: 'opfs-shared', missing: 'Web Locks, OPFS' });
  });

  it('always becomes a code of the client', () => {
    const codes: StorageErrorCode[] = [
      'storage-snapshot-lost',
      'storage-name-invalid',
      'storage-closed',
      'storage-failed',
    ];
    for (const code of codes) expect(ERROR_CODES).toContain(storageFailure(new StorageError(code)).code);
    expect(storageFailure(new TypeError('x')).code).toBe('internal');
  });
});
