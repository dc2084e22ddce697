import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { CopiedHistory } from '../../testing/copied-history.ts';
import { recordPath } from './copy-record.ts';

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('insert'), rows: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete'), rows: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('update'), rows: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('copy'), rows: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('refuse', 'lose-answer'), rows: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('checkpoint', 'vacuum'), rows: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('reopen', 'kill'), rows: fc.constant(0) }) },
  // The earlier copy is older than the longest life of a generation.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('age'), rows: fc.constant(0) }) },
);

const filler = (rows: number, length: number): string =>
  `INSERT INTO item (content) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
   SELECT hex(randomblob(${length})) FROM n`;

async function run(history: CopiedHistory, { kind, rows }: { readonly kind: string; readonly rows: number }) {
  switch (kind) {
    case 'insert':
      return history.commit(filler(rows, 10 * rows));
    case 'delete':
      return history.commit(`DELETE FROM item WHERE id IN (SELECT id FROM item ORDER BY random() LIMIT ${rows})`);
    case 'update':
      return history.commit(`UPDATE item SET content = hex(randomblob(20)) WHERE id % 7 = ${rows % 7}`);
    case 'copy':
      return history.copy();
    case 'checkpoint':
      return history.sql.checkpoint();
    case 'vacuum':
      return history.sql.exec('VACUUM');
    case 'age':
      return (history.maxGenerationMs = history.maxGenerationMs === Infinity ? 5_000 : Infinity);
    case 'reopen':
      history.close();
      return history.reopen();
    case 'kill':
      return history.kill();
    default:
      history.destination.onPut = () => kind as 'refuse';
      await history.copy().catch((error: unknown) => expect(error).toMatchObject({ code: 'backup-unavailable' }));
      history.destination.onPut = () => 'store';
      return undefined;
  }
}

it('the backup contains the last changes of a killed server after another program has opened and closed the file', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  try {
    await history.copy();
    history.close();
    await history.reopen();
    history.commit(filler(40, 400));
    await history.kill();
    history.commit(filler(10, 100));
    await history.copy();
    const last = history.states.at(-1);
    expect(await history.restored(Number.MAX_SAFE_INTEGER)).toBe(last?.rows);
  } finally {
    history.close();
  }
});

it('a copy ends although the file was closed and its record removed meanwhile, and the next opening is copied', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  await history.copy();
  history.commit(filler(10, 100));
  history.destination.onPut = () => {
    history.close();
    rmSync(recordPath(history.path));
    return 'store';
  };
  expect(await history.copy()).toBe(true);
  await history.copied.ended;
  history.destination.onPut = () => 'store';
  await history.reopen();
  try {
    history.commit(filler(10, 100));
    await history.copy();
    expect(await history.restored(Number.MAX_SAFE_INTEGER)).toBe(history.states.at(-1)?.rows);
  } finally {
    history.close();
  }
});

it('a database is copied later if its record cannot be read when it is opened, and ends if it is closed before', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  history.close();
  mkdirSync(recordPath(history.path));
  await expect(history.reopen()).rejects.toMatchObject({ code: 'EISDIR' });
  history.close();
  await history.copied.ended;
  await expect(history.reopen()).rejects.toMatchObject({ code: 'EISDIR' });
  try {
    expect(history.copied.isPending).toBe(true);
    await expect(history.copy()).rejects.toMatchObject({ code: 'EISDIR' });
    rmdirSync(recordPath(history.path));
    history.commit(filler(10, 100));
    expect(await history.copy()).toBe(true);
    expect(await history.restored(Number.MAX_SAFE_INTEGER)).toBe(history.states.at(-1)?.rows);
    expect(history.copied.isPending).toBe(false);
  } finally {
    history.close();
  }
});

it('the backup contains every copied state, whatever happens to the file, the server and the storage between copies', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 120 }), async (steps) => {
      const history = await CopiedHistory.open(temporaryFolder());
      try {
        for (const one of steps) await run(history, one);
        await history.copy();
        expect(history.damage).toEqual([]);
        expect(history.reasons).not.toContain('record-damaged');
        for (const { atMs, rows } of history.states) expect(await history.restored(atMs)).toBe(rows);
        const last = history.states.at(-1);
        if (last !== undefined) expect(await history.restored(Number.MAX_SAFE_INTEGER)).toBe(last.rows);
      } finally {
        history.close();
      }
    }),
    { numRuns: atLevel({ test: 6, verify: 60 }), endOnFailure: true },
  );
});
