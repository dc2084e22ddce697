import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import { StorageError } from '@rockpool/vfs-opfs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import type { Reads } from '../../rpc/reads.ts';
import { storageFailure } from '../storage/storage-failure.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { isChangelogCodeLoaded, loadChangelogCode } from '../changelog/load-changelog-code.ts';
import { localReads } from './local-reads.ts';
import type { OpenDatabase } from './open-database.ts';

vi.mock('../changelog/load-changelog-code.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../changelog/load-changelog-code.ts')>();
  return {
    ...original,
    isChangelogCodeLoaded: vi.fn(original.isChangelogCodeLoaded),
    loadChangelogCode: vi.fn(original.loadChangelogCode),
  };
});

const lost = storageFailure(new StorageError('storage-snapshot-lost', { generation: 3 }));
const database = openInMemory();
const ONE = { sql: 'SELECT 1 AS one', params: [] };
let failuresLeft = 0;

afterEach(() => {
  failuresLeft = 0;
});

/** Reads of a real database. The first `times` reads fail as if the storage failed during them. */
function failing(times: number, error: Error = lost): Reads {
  failuresLeft = times;
  const failOr = <T>(read: () => T): T => {
    if (failuresLeft-- > 0) throw error;
    return read();
  };
  const startQuery: OpenDatabase['startQuery'] = (statement) => {
    const run = database.startQuery(statement);
    const goOn = run.advance.bind(run);
    run.advance = (budgetMs) => failOr(() => goOn(budgetMs));
    return run;
  };
  return localReads(
    {
      ...database,
      startQuery,
      queryAll: (statements, eachWithinMs) =>
        failuresLeft-- > 0
          ? statements.map(() => ({ error: toRockpoolError(error).toData() }))
          : database.queryAll(statements, eachWithinMs),
      dependencies: (statement) => failOr(() => database.dependencies(statement)),
    },
    {
      backup: () => Promise.reject(new Error('no file')),
      slow: { query: () => Promise.reject(new Error('not slow')), firstSliceMs: 1_000 },
    },
  );
}

describe('a read that loses its snapshot', () => {
  it('is repeated once', async () => {
    expect(decodeRows(await failing(1).query(ONE))).toEqual([{ one: 1 }]);
    expect(await failing(1).queryAll([ONE])).toMatchObject([{ rows: { rowCount: 1 } }]);
    expect(await failing(1).dependencies(ONE)).toEqual([]);
  });

  it('fails when the second attempt fails too; a read that fails for another reason is not repeated', async () => {
    await expect(failing(2).query(ONE)).rejects.toBe(lost);
    const other = new RockpoolError('storage-lost');
    await expect(failing(1, other).query(ONE)).rejects.toBe(other);
    expect(failuresLeft).toBe(0);
  });
});

it('the list of rejected changesets is read without its code, which cannot be loaded, if it is empty', async () => {
  const opened = openInMemory();
  vi.mocked(isChangelogCodeLoaded).mockReturnValue(false);
  vi.mocked(loadChangelogCode).mockRejectedValue(new RockpoolError('code-unloadable', { part: 'changelog' }));
  const reads = localReads(opened, { backup: () => Promise.reject(new Error('no file')) });
  expect(await reads.listRejected()).toEqual([]);
  opened.write({ id: 'a', statements: [{ sql: "INSERT INTO account (id) VALUES ('a')", params: [] }] });
  opened.rejected.add(1, new RockpoolError('constraint-check').toData(), 0);
  await expect(reads.listRejected()).rejects.toMatchObject({ code: 'code-unloadable' });
  opened.close();
});

it('a read whose code could not be loaded loads it at the next call', async () => {
  const opened = openInMemory();
  vi.mocked(isChangelogCodeLoaded).mockReturnValue(false);
  const reads = localReads(opened, { backup: () => Promise.reject(new Error('no file')) });
  opened.write({ id: 'a', statements: [{ sql: "INSERT INTO account (id) VALUES ('a')", params: [] }] });
  for (const read of [
    () => reads.listWaiting(1),
    () => reads.rowSyncState('account', ['a']),
    () => (opened.rejected.add(1, new RockpoolError('constraint-check').toData(), 0), reads.listRejected()),
  ]) {
    vi.mocked(loadChangelogCode).mockReset();
    vi.mocked(loadChangelogCode).mockRejectedValueOnce(new RockpoolError('code-unloadable', { part: 'changelog' }));
    await expect(read()).rejects.toMatchObject({ code: 'code-unloadable' });
    expect(await read()).toBeTruthy();
  }
  opened.close();
});
