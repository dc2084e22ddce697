import { ERROR_CODES, RockpoolError, toRockpoolError } from '@rockpool/shared';
import { StorageError, type StorageErrorCode } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import type { QueryResult } from '../../rpc/reads.ts';
import { withReadAgain } from './read-again.ts';
import { storageFailure } from './storage-failure.ts';

describe('a failure of the storage', () => {
  it('keeps its code where the client has it, and its fields', () => {
    const codes: StorageErrorCode[] = ['storage-busy', 'storage-missing', 'storage-unsupported', 'storage-full', 'storage-lost', 'storage-corrupt'];
    for (const code of codes) expect(storageFailure(new StorageError(code)).code).toBe(code);
    const error = storageFailure(new StorageError('storage-unsupported', { medium: 'opfs-shared', missing: ['Web Locks', 'OPFS'] }));
    expect(error.fields).toEqual({ medium: 'opfs-shared', missing: 'Web Locks, OPFS' });
  });

  it('always gets a code of the client', () => {
    const codes: StorageErrorCode[] = ['storage-snapshot-lost', 'storage-name-invalid', 'storage-closed', 'storage-failed'];
    for (const code of codes) expect(ERROR_CODES).toContain(storageFailure(new StorageError(code)).code);
    expect(storageFailure(new TypeError('x')).code).toBe('internal');
  });
});

describe('a read whose snapshot is gone', () => {
  const failingTimes = (times: number, error: Error): { query(sql: string): string; queryAll(): QueryResult[]; ran: number } => {
    const database = {
      ran: 0,
      query(sql: string): string {
        if (database.ran++ < times) throw error;
        return `rows of ${sql}`;
      },
      queryAll: (): QueryResult[] => [database.ran++ < times ? { error: toRockpoolError(error).toData() } : { rows: { names: [], columns: [], rowCount: 0 }, tookMs: 0 }],
    };
    return database;
  };
  const lost = storageFailure(new StorageError('storage-snapshot-lost', { generation: 3 }));

  it('is run once more', () => {
    expect(withReadAgain(failingTimes(1, lost)).query('q')).toBe('rows of q');
    expect(withReadAgain(failingTimes(1, lost)).queryAll()).toMatchObject([{ rows: {} }]);
  });

  it('fails when that fails too, and other failures fail at once', () => {
    expect(() => withReadAgain(failingTimes(2, lost)).query('q')).toThrow(lost);
    const other = new RockpoolError('storage-lost');
    const database = failingTimes(1, other);
    expect(() => withReadAgain(database).query('q')).toThrow(other);
    expect(database.ran).toBe(1);
  });
});
