import { closeSync, fstatSync, mkdirSync, openSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { CopiedHistory, SOURCE } from '../../testing/copied-history.ts';
import { MemoryDestination } from '../../testing/memory-destination.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { writeMissingSums } from '../store/accept-file.ts';
import { forgetCopies } from '../store/data-directory.ts';
import { CopiedDatabase } from './copied-database.ts';
import { CopyRecord, recordPath } from './copy-record.ts';
import { fetchPages } from './fetch-pages.ts';
import { listCopies } from './generations.ts';
import { planRestore, type RestorePlan } from './restore-plan.ts';

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

it('a copy ends even if the file is closed and its record removed meanwhile, and the next opening is copied', async () => {
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

it('a database whose record cannot be read when it is opened is copied later, and can be closed before that', async () => {
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

it('the backup contains every page after a copy that could be recorded only in part, as on a full disk', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  await history.copy();
  history.commit(filler(40, 400));
  const update = vi.spyOn(CopyRecord.prototype, 'update').mockImplementationOnce(function (this: CopyRecord, sums) {
    update.mockRestore();
    this.update(new Map([...sums].slice(0, sums.size / 2)), this.facts);
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
  });
  await expect(history.copy()).rejects.toMatchObject({ code: 'ENOSPC' });
  try {
    await history.copy();
    expect(history.reasons).toEqual(['first', 'record-damaged']);
    expect(await history.restored(Number.MAX_SAFE_INTEGER)).toBe(history.states.at(-1)?.rows);
  } finally {
    history.close();
  }
});

it('a generation that cannot be recorded does not touch the descriptors of other files', async () => {
  const folder = temporaryFolder();
  const history = await CopiedHistory.open(folder);
  await history.copy();
  history.close();
  history.maxGenerationMs = 500;
  await history.reopen();
  history.commit(filler(10, 100));
  history.destination.onPut = () => {
    rmSync(`${recordPath(history.path)}.new`);
    return 'store';
  };
  await expect(history.copy()).rejects.toMatchObject({ code: 'ENOENT' });
  history.destination.onPut = () => 'store';
  // They take the numbers of the descriptors that the copy has closed.
  const others = Array.from({ length: 4 }, (_, i) => openSync(join(folder, `other-${i}`), 'w+'));
  history.commit(filler(10, 100));
  await history.copy();
  history.close();
  for (const other of others) {
    expect(fstatSync(other).size).toBe(0);
    closeSync(other);
  }
  expect(await history.restored(Number.MAX_SAFE_INTEGER)).toBe(history.states.at(-1)?.rows);
});

it('a database that is replaced after the clock was set back is restored as it is now', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  await history.copy();
  history.commit(filler(10, 100));
  await history.copy();
  history.close();
  forgetCopies(history.path);
  history.nowMs -= 500_000;
  await history.reopen();
  try {
    for (let i = 0; i < 2; i++) {
      history.commit(filler(10, 100));
      await history.copy();
    }
    expect(await history.restored(Number.MAX_SAFE_INTEGER)).toBe(history.states.at(-1)?.rows);
  } finally {
    history.close();
  }
});

it('generations that begin after the clock was set back are restored in their order', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  await history.copy();
  history.close();
  history.maxGenerationMs = -Infinity;
  history.nowMs -= 500_000;
  await history.reopen();
  try {
    for (let i = 0; i < 6; i++) {
      history.commit(filler(10, 100));
      await history.copy();
      expect(await history.restored(Number.MAX_SAFE_INTEGER)).toBe(history.states.at(-1)?.rows);
    }
    expect(history.reasons).toEqual(['first', ...Array.from({ length: 6 }, () => 'scheduled')]);
  } finally {
    history.close();
  }
});

it('a restore that was interrupted continues after the server has combined the copies, with the newest state', async () => {
  const folder = temporaryFolder();
  const history = await CopiedHistory.open(folder);
  await history.copy();
  const commits = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      history.commit(`INSERT INTO item (content) VALUES ('item ${i}')`);
      await history.copy();
    }
  };
  const plan = async (): Promise<RestorePlan> =>
    planRestore(await listCopies(history.destination, SOURCE), Number.MAX_SAFE_INTEGER) as RestorePlan;
  const path = join(folder, 'restored.sqlite');
  const options = { atMs: Number.MAX_SAFE_INTEGER };
  try {
    await commits(30);
    let objects = 0;
    const onProgress = (): void => {
      if (++objects === 28) throw new Error('interrupted');
    };
    await expect(fetchPages(history.destination, await plan(), path, { ...options, onProgress })).rejects.toThrow(
      'interrupted',
    );
    // The next plan has fewer objects than the earlier one has fetched.
    await commits(4);
    const { copies } = await fetchPages(history.destination, await plan(), path, options);
    expect(copies).toBe(34);
    // A power cut may have damaged the file that says where to continue.
    writeFileSync(`${path}.progress`, '');
    expect((await fetchPages(history.destination, await plan(), path, options)).copies).toBe(34);
  } finally {
    history.close();
  }
});

it('a copy does not count as complete if the file is closed before all of its pages are compared', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'large.sqlite');
  const created = new DatabaseSync(path);
  // More pages than are compared at once.
  created.exec(`PRAGMA page_size = 512; CREATE TABLE rockpool_log (watermark INTEGER PRIMARY KEY);
    CREATE TABLE item (id INTEGER PRIMARY KEY, content BLOB); INSERT INTO item VALUES (1, zeroblob(34000000))`);
  created.close();
  const closed: boolean[] = [];
  const open = (): { readonly sql: SqliteFile; readonly copied: CopiedDatabase } => {
    const sql = new SqliteFile(path);
    const options = { databasePath: path, source: SOURCE, destination: new MemoryDestination(), now: Date.now };
    const events = { onChange: () => undefined, onDamaged: () => undefined };
    const copied = new CopiedDatabase(
      sql,
      { ...options, maxGenerationMs: Infinity, onGeneration: () => undefined, onStored: () => undefined },
      { ...events, onClosed: (isComplete) => void closed.push(isComplete) },
    );
    return { sql, copied };
  };
  const first = open();
  await first.copied.begin(Promise.resolve());
  await first.copied.copy();
  first.sql.close();
  writeMissingSums(path);
  const second = open();
  const setComplete = vi.spyOn(CopyRecord.prototype, 'setComplete').mockImplementationOnce(function (
    this: CopyRecord,
    isComplete,
  ) {
    setComplete.mockRestore();
    this.setComplete(isComplete);
    // Runs when the first pages have been compared.
    queueMicrotask(() => second.sql.close());
  });
  await expect(second.copied.begin(Promise.resolve())).rejects.toMatchObject({ code: 'database-unavailable' });
  expect(closed).toEqual([true, false]);
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
    { numRuns: atLevel({ test: 3, verify: 60 }), endOnFailure: true },
  );
});
