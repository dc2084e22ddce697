import { describe, expect, it } from 'vitest';
import type { ContractTab } from './contract-tab.ts';
import { PATIENT_MS, type TabOpenOptions } from './tab-commands.ts';

/** A medium under the contract. */
export interface ContractMedium {
  readonly title: string;
  /** Opens another tab on the same medium, with its own worker if the medium has workers. */
  newTab(): ContractTab;
  /** Whether readers may open the database while the writer has it open. */
  readonly allowsReaders: boolean;
  /** Whether stored data outlives the worker that stored it, so that a worker may end without closing. */
  readonly outlivesWorkers: boolean;
  /** How a full medium appears after the tab's `setFull`: COMMIT fails, or `committed()` rejects afterwards. */
  readonly whenFull: 'commit-fails' | 'committed-rejects' | 'cannot-be-staged';
  /**
   * `differences` omits the tests of code that all media share. One medium runs the `whole` contract, and that is
   * enough for them.
   */
  readonly extent: 'whole' | 'differences';
}

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const CREATE = 'CREATE TABLE entry(id INTEGER PRIMARY KEY, content TEXT);';
const COUNT = 'SELECT count(*) FROM entry';
const CHECK = 'PRAGMA integrity_check';
const TINY_CACHE = 'PRAGMA cache_size = 5;';

/** SQL that adds rows of 1,000 bytes, each with its own content. */
function rowsSql(count: number): string {
  return `INSERT INTO entry(content) SELECT printf('%.*c', 990, 'x') || i FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n);`;
}

/** The guarantees of every medium to SQLite and to its openers. */
export function describeMediaContract(medium: ContractMedium): void {
  describe(medium.title, () => {
    describeMedium(medium);
  });
}

function describeMedium(medium: ContractMedium): void {
  /** Defines a test of behaviour that is the same on every medium. */
  const itAnywhere: (title: string, body: () => Promise<void>) => void =
    medium.extent === 'whole' ? it : () => undefined;
  let nameCount = 0;

  function newName(): string {
    nameCount += 1;
    return `contract-${Date.now()}-${nameCount}`;
  }

  async function openNew(options: TabOpenOptions = {}): Promise<{ name: string; tab: ContractTab }> {
    const name = newName();
    const tab = medium.newTab();
    await tab.call('open', name, 'writer', PATIENT_MS, options);
    return { name, tab };
  }

  /** Closes, opens in another tab, and expects an intact database there. */
  async function reopen(
    opened: { name: string; tab: ContractTab },
    options: TabOpenOptions = {},
  ): Promise<ContractTab> {
    await opened.tab.call('close');
    const again = medium.newTab();
    await again.call('open', opened.name, 'writer', PATIENT_MS, options);
    expect(await again.call('run', CHECK)).toEqual([['ok']]);
    return again;
  }

  describe('a database', () => {
    for (const durability of ['relaxed', 'strict'] as const) {
      it(`can be reopened after closing, with ${durability} durability`, async () => {
        const opened = await openNew({ durability });
        await opened.tab.call('run', CREATE);
        for (let count = 0; count < 30; count += 1)
          await opened.tab.call('run', "INSERT INTO entry(content) VALUES ('x')");
        const again = await reopen(opened, { durability });
        expect(await again.call('run', COUNT)).toEqual([[30]]);
        await again.call('run', 'UPDATE entry SET content = id WHERE id > 20');
        const third = await reopen({ name: opened.name, tab: again }, { durability });
        expect(await third.call('run', 'SELECT sum(content) FROM entry WHERE id > 20')).toEqual([[255]]);
        await third.call('close');
      });
    }

    itAnywhere('drops what was rolled back', async () => {
      const opened = await openNew();
      await opened.tab.call(
        'run',
        `${CREATE} ${rowsSql(10)} BEGIN; ${rowsSql(500)} DELETE FROM entry WHERE id < 5; ROLLBACK;`,
      );
      expect(await opened.tab.call('run', COUNT)).toEqual([[10]]);
      await opened.tab.call('run', rowsSql(1));
      const again = await reopen(opened);
      expect(await again.call('run', COUNT)).toEqual([[11]]);
      await again.call('close');
    });

    it('drops what was not committed when its connection closed', async () => {
      const opened = await openNew();
      await opened.tab.call(
        'run',
        `${TINY_CACHE} ${CREATE} ${rowsSql(10)} BEGIN; ${rowsSql(500)} UPDATE entry SET content = 'gone'`,
      );
      const again = await reopen(opened);
      expect(await again.call('run', "SELECT count(*), sum(content = 'gone') FROM entry")).toEqual([[10, 0]]);
      await again.call('close');
    });

    itAnywhere('accepts transactions larger than the page cache, committed and rolled back', async () => {
      const opened = await openNew();
      await opened.tab.call('run', `${TINY_CACHE} ${CREATE} ${rowsSql(3000)}`);
      await opened.tab.call('run', `BEGIN; UPDATE entry SET content = 'gone'; ${rowsSql(2000)} ROLLBACK;`);
      expect(await opened.tab.call('run', "SELECT count(*), sum(content = 'gone') FROM entry")).toEqual([[3000, 0]]);
      await opened.tab.call(
        'run',
        `BEGIN; UPDATE entry SET content = 'kept' WHERE id % 2 = 0; ${rowsSql(1000)} COMMIT;`,
      );
      const again = await reopen(opened);
      expect(await again.call('run', "SELECT count(*), sum(content = 'kept') FROM entry")).toEqual([[4000, 1500]]);
      await again.call('close');
    });

    for (const cache of ['PRAGMA cache_size = 2000;', TINY_CACHE]) {
      itAnywhere(
        `undoes only what was written after the savepoint that a transaction rolls back to, after ${cache}`,
        async () => {
          const opened = await openNew();
          await opened.tab.call(
            'run',
            `${cache} ${CREATE} BEGIN; ${rowsSql(100)} SAVEPOINT a; ${rowsSql(100)} SAVEPOINT b; DELETE FROM entry; ROLLBACK TO b; ${rowsSql(10)} RELEASE b;
           SAVEPOINT c; ${rowsSql(50)} ROLLBACK TO a; ${rowsSql(7)} COMMIT;`,
          );
          const again = await reopen(opened);
          expect(await again.call('run', COUNT)).toEqual([[107]]);
          await again.call('close');
        },
      );
    }

    it('shrinks by VACUUM, and can grow again', async () => {
      const opened = await openNew();
      await opened.tab.call(
        'run',
        `${CREATE} ${rowsSql(1000)} DELETE FROM entry WHERE id > 100; VACUUM; ${rowsSql(300)}`,
      );
      const again = await reopen(opened);
      expect(await again.call('run', 'SELECT count(*), count(DISTINCT content) FROM entry')).toEqual([[400, 300]]);
      await again.call('close');
      expect((await again.call('sizes', opened.name))!.databaseBytes).toBeLessThan(700_000);
    });

    for (const [from, to] of [
      [4096, 8192],
      [8192, 4096],
      [8192, 512],
      [4096, 65536],
    ] as const) {
      itAnywhere(`changes its page size by VACUUM from ${from} to ${to}`, async () => {
        const opened = await openNew({ pageSizeBytes: from });
        await opened.tab.call(
          'run',
          `${CREATE} ${rowsSql(300)} PRAGMA page_size = ${to}; VACUUM; ${rowsSql(50)} BEGIN; DELETE FROM entry; ROLLBACK;`,
        );
        const again = await reopen(opened);
        expect(await again.call('run', 'PRAGMA page_size')).toEqual([[to]]);
        await again.call('run', `${TINY_CACHE} ${rowsSql(50)}`);
        const third = await reopen({ name: opened.name, tab: again });
        expect(await third.call('run', 'SELECT count(*), sum(length(content)) > 396000 FROM entry')).toEqual([
          [400, 1],
        ]);
        await third.call('close');
      });
    }

    itAnywhere('may be larger than the page cache', async () => {
      const options = { tuning: { poolSizeBytes: 4 * 65536 } };
      const opened = await openNew(options);
      await opened.tab.call('run', `${CREATE} ${rowsSql(4000)}`);
      for (let count = 0; count < 20; count += 1)
        await opened.tab.call('run', `UPDATE entry SET content = 'changed' || content WHERE id % 200 = ${count}`);
      const again = await reopen(opened, options);
      // Each row has 990 bytes and the digits of its number, from 1 to 4000; one row in ten also begins with 'changed'.
      const sum = 4000 * 990 + (9 + 90 * 2 + 900 * 3 + 3001 * 4) + 400 * 7;
      expect(await again.call('run', 'SELECT count(*), sum(length(content)) FROM entry')).toEqual([[4000, sum]]);
      await again.call('close');
    });

    itAnywhere('supports full-text search, even after reopening', async () => {
      const opened = await openNew();
      await opened.tab.call(
        'run',
        `CREATE VIRTUAL TABLE note USING fts5(title, body);
         INSERT INTO note VALUES ('Groceries', 'milk, eggs and coffee'), ('Rent', 'due on the first'), ('Coffee machine', 'needs a new filter');`,
      );
      const again = await reopen(opened);
      const found = "SELECT title FROM note WHERE note MATCH 'coffee' ORDER BY title";
      expect(await again.call('run', found)).toEqual([['Coffee machine'], ['Groceries']]);
      await again.call(
        'run',
        "DELETE FROM note WHERE title = 'Groceries'; INSERT INTO note VALUES ('Shop', 'coffees')",
      );
      const third = await reopen({ name: opened.name, tab: again });
      expect(
        await third.call(
          'run',
          "SELECT title, snippet(note, 1, '[', ']', '', 5) FROM note WHERE note MATCH 'coffee*' ORDER BY title",
        ),
      ).toEqual([
        ['Coffee machine', 'needs a new filter'],
        ['Shop', '[coffees]'],
      ]);
      await third.call('close');
    });

    if (medium.outlivesWorkers) {
      it('supports full-text search after its worker repeatedly ended without closing it', async () => {
        const name = newName();
        for (let round = 1; round <= 4; round += 1) {
          const tab = medium.newTab();
          // A terminated worker may continue to run for two seconds.
          await tab.call('open', name, 'writer', PATIENT_MS);
          if (round === 1) await tab.call('run', 'CREATE VIRTUAL TABLE note USING fts5(body)');
          await tab.call('run', `INSERT INTO note VALUES ('coffee, round ${round}'), ('tea')`);
          const found = await tab.call(
            'run',
            `${CHECK}; SELECT body FROM note WHERE note MATCH 'coffee' ORDER BY rowid`,
          );
          expect(found).toEqual(Array.from({ length: round }, (_, index) => [`coffee, round ${index + 1}`]));
          // Every other round ends in the middle of a statement.
          if (round % 2 === 0)
            tab
              .call(
                'run',
                'SELECT max(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n)',
              )
              .catch(() => undefined);
          tab.terminate();
        }
      });
    }

    it('is listed, measured, exported as one plain file, and deleted', async () => {
      const opened = await openNew();
      await opened.tab.call('run', `${CREATE} ${rowsSql(100)} UPDATE entry SET content = 'last' WHERE id = 100`);
      const [[pages]] = (await opened.tab.call('run', 'PRAGMA page_count')) as [[number]];
      await opened.tab.call('close');
      const other = medium.newTab();
      expect(await other.call('names')).toContain(opened.name);
      expect((await other.call('sizes', opened.name))!.databaseBytes).toBe(pages * 8192);
      const file = await other.call(
        'queryExport',
        opened.name,
        `${CHECK}; SELECT count(*), sum(content = 'last') FROM entry`,
      );
      expect(file).toEqual({ magic: 'SQLite format 3', sizeBytes: pages * 8192, rows: [[100, 1]] });
      await other.call('remove', opened.name);
      expect(await other.call('names')).not.toContain(opened.name);
      expect(await other.call('sizes', opened.name)).toBeUndefined();
    });

    it('is empty when it is reopened after deletion', async () => {
      const opened = await openNew();
      await opened.tab.call('run', `${CREATE} ${rowsSql(100)}`);
      await opened.tab.call('close');
      await opened.tab.call('remove', opened.name);
      await opened.tab.call('open', opened.name, 'writer', PATIENT_MS);
      expect(await opened.tab.call('run', 'SELECT count(*) FROM sqlite_schema')).toEqual([[0]]);
      await opened.tab.call('close');
    });
  });

  describe('the files', () => {
    const LAST = 'SELECT count(*), max(content) FROM entry';

    /** A closed database of 100 rows, about 112 KB; the content of one of them is `mark`. */
    async function closedDatabase(mark: string): Promise<{ name: string; tab: ContractTab }> {
      const opened = await openNew();
      await opened.tab.call('run', `${CREATE} ${rowsSql(100)} UPDATE entry SET content = '${mark}' WHERE id = 100`);
      await opened.tab.call('close');
      return opened;
    }

    async function expectContent(tab: ContractTab, name: string, rows: unknown): Promise<void> {
      await tab.call('open', name, 'writer', PATIENT_MS);
      expect(await tab.call('run', CHECK)).toEqual([['ok']]);
      expect(await tab.call('run', LAST)).toEqual(rows);
      await tab.call('close');
    }

    for (const asStream of [false, true]) {
      (asStream ? it : itAnywhere)(
        `import an exported file, ${asStream ? 'streamed' : 'whole'}, under a new name and over another database`,
        async () => {
          const { name, tab } = await closedDatabase('zz first');
          const other = await closedDatabase('zz second');
          await other.tab.call('open', other.name, 'writer', PATIENT_MS);
          await other.tab.call('run', rowsSql(200));
          await other.tab.call('close');
          const copy = newName();
          for (const to of [copy, other.name]) {
            await tab.call('importCopy', name, to, { asStream });
            expect(await tab.call('queryExport', to, LAST)).toMatchObject({
              magic: 'SQLite format 3',
              rows: [[100, 'zz first']],
            });
            await expectContent(tab, to, [[100, 'zz first']]);
            await tab.call('open', to, 'writer', PATIENT_MS);
            await tab.call('run', rowsSql(5));
            const again = await reopen({ name: to, tab });
            expect(await again.call('run', COUNT)).toEqual([[105]]);
            await again.call('close');
          }
        },
      );
    }

    itAnywhere('import a file that was used in WAL mode', async () => {
      const { name, tab } = await closedDatabase('zz wal');
      await tab.call('importCopy', name, `${name}-copy`, { change: 'wal-mode' });
      await expectContent(tab, `${name}-copy`, [[100, 'zz wal']]);
    });

    itAnywhere('reject the import of an incomplete or damaged database, and keep the old one', async () => {
      const good = await closedDatabase('zz good');
      const old = await closedDatabase('zz old');
      const { tab } = good;
      const names = await tab.call('names');
      for (const options of [
        { change: 'not-sqlite' },
        { change: 'cut-off' },
        { change: 'cut-off', asStream: true },
        { change: 'half-a-page' },
        { checkSql: 'SELECT 1' },
      ] as const) {
        await expect(tab.call('importCopy', good.name, old.name, options)).rejects.toMatchObject({
          code: 'storage-corrupt',
        });
      }
      // The caller gets the error of the check.
      await expect(tab.call('importCopy', good.name, old.name, { change: 'damaged-page' })).rejects.toMatchObject({
        resultCode: SQLITE_CORRUPT,
      });
      expect(await tab.call('names')).toEqual(names);
      await expectContent(tab, old.name, [[100, 'zz old']]);
      await tab.call('importCopy', good.name, old.name);
      await expectContent(tab, old.name, [[100, 'zz good']]);
    });

    it('reject an import while the database is open', async () => {
      const { name, tab } = await closedDatabase('zz good');
      const writer = await openNew();
      await expect(tab.call('importCopy', name, writer.name, { timeoutMs: 50 })).rejects.toMatchObject({
        code: 'storage-busy',
      });
      await writer.tab.call('run', `${CREATE} ${rowsSql(3)}`);
      if (medium.allowsReaders) {
        const reader = medium.newTab();
        await reader.call('open', writer.name, 'reader', PATIENT_MS);
        await writer.tab.call('close');
        await expect(tab.call('importCopy', name, writer.name, { timeoutMs: 50 })).rejects.toMatchObject({
          code: 'storage-busy',
        });
        expect(await reader.call('run', COUNT)).toEqual([[3]]);
        await reader.call('close');
      } else {
        await writer.tab.call('close');
      }
      await tab.call('importCopy', name, writer.name);
      await expectContent(tab, writer.name, [[100, 'zz good']]);
    });

    it('are kept under a different name, are exported unchanged, and free the old name, if the header is damaged [CT-damaged-header]', async () => {
      const { name, tab } = await closedDatabase('zz lost');
      const before = (await tab.call('sizes', name))!;
      for (const number of [1, 2]) {
        await tab.call('damage', name, 0);
        await expect(tab.call('open', name, 'writer', PATIENT_MS)).rejects.toMatchObject({ code: 'storage-corrupt' });
        await expect(tab.call('open', name, 'writer', PATIENT_MS)).rejects.toMatchObject({ code: 'storage-corrupt' });
        const kept = await tab.call('quarantine', name);
        expect(kept).toBe(`${name}.corrupt-${number}`);
        const names = await tab.call('names');
        expect(names).toContain(kept);
        expect(names).not.toContain(name);
        expect((await tab.call('sizes', kept))!.databaseBytes).toBe(before.databaseBytes);
        await expect(tab.call('importCopy', kept, `${name}-copy`)).rejects.toMatchObject({
          code: 'storage-corrupt',
          fields: { what: 'the file is not a SQLite database' },
        });
        await tab.call('open', name, 'writer', PATIENT_MS);
        await tab.call('run', `${CREATE} ${rowsSql(100)}`);
        await tab.call('close');
      }
      await expect(tab.call('quarantine', newName())).rejects.toMatchObject({ code: 'storage-missing' });
    });

    itAnywhere('serve the undamaged pages if one page is damaged [CT-damaged-page]', async () => {
      const { name, tab } = await closedDatabase('zz there');
      await tab.call('open', name, 'writer', PATIENT_MS);
      await tab.call(
        'run',
        `CREATE TABLE other(x); INSERT INTO other VALUES ('whole'); ${CREATE.replace('entry', 'third')}`,
      );
      const [[page]] = (await tab.call('run', "SELECT rootpage FROM sqlite_schema WHERE name = 'entry'")) as [[number]];
      await tab.call('close');
      await tab.call('damage', name, (page - 1) * 8192);
      const kept = await tab.call('quarantine', name);
      await tab.call('open', kept, 'writer', PATIENT_MS);
      await expect(tab.call('run', COUNT)).rejects.toMatchObject({ resultCode: SQLITE_CORRUPT });
      expect(await tab.call('run', 'SELECT x FROM other')).toEqual([['whole']]);
      await tab.call('close');
    });

    itAnywhere('fail to open if they are truncated', async () => {
      const { name, tab } = await closedDatabase('zz there');
      await expect(tab.call('importCopy', name, `${name}-copy`, { change: 'cut-off' })).rejects.toMatchObject({
        code: 'storage-corrupt',
        fields: { what: 'the file is shorter than its header states' },
      });
    });

    if (medium.whenFull !== 'cannot-be-staged') {
      itAnywhere(
        'reject an import or VACUUM before it starts if the estimate leaves no room [CT-forecast]',
        async () => {
          const { name, tab } = await closedDatabase('zz there');
          const { databaseBytes } = (await tab.call('sizes', name))!;
          const full = { code: 'storage-full', fields: { freeBytes: 100_000 } };
          await tab.call('setFreeBytes', 100_000);
          await expect(tab.call('importCopy', name, `${name}-copy`)).rejects.toMatchObject(full);
          await expect(tab.call('assertRoomForVacuum', name)).rejects.toMatchObject(full);
          await tab.call('setFreeBytes', 10 * databaseBytes);
          await tab.call('assertRoomForVacuum', name);
          await tab.call('importCopy', name, `${name}-copy`);
          await expectContent(tab, `${name}-copy`, [[100, 'zz there']]);
        },
      );

      it('stay unchanged if an import runs out of room', async () => {
        const good = await closedDatabase('zz good');
        const old = await closedDatabase('zz old');
        await old.tab.call('setFull', true);
        await expect(old.tab.call('importCopy', good.name, old.name)).rejects.toMatchObject({ code: 'storage-full' });
        await old.tab.call('setFull', false);
        await expectContent(old.tab, old.name, [[100, 'zz old']]);
      });
    }
  });

  describe('opening a database', () => {
    it('fails with storage-busy for a second writer, as does deleting, until the first one closes', async () => {
      const opened = await openNew();
      const second = medium.newTab();
      await expect(second.call('open', opened.name, 'writer', 50)).rejects.toMatchObject({ code: 'storage-busy' });
      await expect(second.call('remove', opened.name)).rejects.toMatchObject({ code: 'storage-busy' });
      const waiting = second.call('open', opened.name, 'writer', PATIENT_MS);
      await opened.tab.call('run', `${CREATE} ${rowsSql(3)}`);
      await opened.tab.call('close');
      await waiting;
      expect(await second.call('run', COUNT)).toEqual([[3]]);
      await second.call('close');
    });

    it('fails with storage-name-invalid for a name that cannot be a file name', async () => {
      await expect(medium.newTab().call('open', '../up', 'writer', 50)).rejects.toMatchObject({
        code: 'storage-name-invalid',
      });
    });

    it('fails with storage-missing for an export of a missing database, and creates nothing', async () => {
      const name = newName();
      const tab = medium.newTab();
      await expect(tab.call('queryExport', name, COUNT)).rejects.toMatchObject({ code: 'storage-missing' });
      expect(await tab.call('names')).not.toContain(name);
      expect(await tab.call('sizes', name)).toBeUndefined();
    });

    it('lets a reader in the worker of the writer read the commits, but not the open transaction', async () => {
      const { tab } = await openNew();
      await tab.call('run', `${CREATE} ${rowsSql(100)}`);
      await tab.call('openBeside');
      await tab.call('run', `BEGIN; DELETE FROM entry WHERE id > 10; ${rowsSql(500)}`);
      expect(await tab.call('runBeside', COUNT)).toEqual([[100]]);
      await tab.call('run', 'COMMIT');
      expect(await tab.call('runBeside', COUNT)).toEqual([[510]]);
      await tab.call('run', 'BEGIN; DELETE FROM entry');
      await tab.call('run', 'ROLLBACK');
      expect(await tab.call('runBeside', COUNT)).toEqual([[510]]);
      await expect(tab.call('runBeside', 'DELETE FROM entry')).rejects.toMatchObject({ code: 'sqlite' });
      await tab.call('closeBeside');
      await tab.call('close');
    });

    if (medium.whenFull !== 'cannot-be-staged') {
      it('lets a reader in the worker of the writer read the commits made after the medium rejected others', async () => {
        const { tab } = await openNew();
        await tab.call('run', `${CREATE} ${rowsSql(1)}`);
        await tab.call('openBeside');
        expect(await tab.call('runBeside', COUNT)).toEqual([[1]]);
        await tab.call('setFull', true);
        const refused = tab.call('run', "INSERT INTO entry VALUES (2, 'refused')");
        const [outcome] = await Promise.allSettled([refused, tab.call('runBeside', 'SELECT content FROM entry')]);
        expect(outcome.status).toBe('rejected');
        await tab.call('setFull', false);
        await tab.call('run', "INSERT INTO entry VALUES (2, 'instead')");
        expect(await tab.call('runBeside', 'SELECT content FROM entry WHERE id = 2')).toEqual([['instead']]);
        await tab.call('closeBeside');
        await tab.call('close');
      });
    }

    it('lets a reader in the worker of the writer finish on one snapshot, whatever the writer commits', async () => {
      const { tab } = await openNew({ tuning: { checkpointAfterBytes: 64 * 1024 } });
      await tab.call('run', `${CREATE} ${rowsSql(1000)}`);
      await tab.call('openBeside');
      await tab.call('runBeside', TINY_CACHE);
      await tab.call('beginScanBeside', 'SELECT content FROM entry');
      for (let count = 0; count < 10; count += 1)
        await tab.call('run', `UPDATE entry SET content = 'new' WHERE id % 10 = ${count}`);
      await tab.call('run', 'DELETE FROM entry WHERE id > 500; VACUUM');
      expect(await tab.call('endScan')).toBe(1000);
      expect(await tab.call('runBeside', `${CHECK}; ${COUNT}`)).toEqual([[500]]);
      await tab.call('closeBeside');
      await tab.call('close');
    });

    itAnywhere(
      'lets the writer export one snapshot of the commits, during later commits and an open transaction',
      async () => {
        const { tab } = await openNew({ tuning: { checkpointAfterBytes: 64 * 1024 } });
        await tab.call(
          'run',
          `${CREATE} ${rowsSql(3000)} CREATE TABLE twin(id INTEGER PRIMARY KEY, content TEXT); INSERT INTO twin SELECT * FROM entry`,
        );
        await tab.call('run', "BEGIN; UPDATE entry SET content = 'open' WHERE id < 100");
        const beside = await tab.call('queryOwnExport', `${CHECK}; SELECT count(*), sum(content = 'open') FROM entry`);
        expect(beside).toMatchObject({ magic: 'SQLite format 3', rows: [[3000, 0]] });
        await tab.call('run', 'ROLLBACK');
        const exporting = tab.call(
          'queryOwnExport',
          `${CHECK}; SELECT (SELECT sum(length(content)) FROM entry) = (SELECT sum(length(content)) FROM twin)`,
        );
        for (let count = 0; count < 20; count += 1) {
          await tab.call(
            'run',
            `BEGIN; UPDATE entry SET content = 'new${count}' WHERE id % 20 = ${count}; UPDATE twin SET content = 'new${count}' WHERE id % 20 = ${count}; COMMIT`,
          );
        }
        expect((await exporting).rows).toEqual([[1]]);
        // The exports have left nothing open.
        await tab.call('close');
      },
    );

    if (medium.allowsReaders) {
      it('fails with storage-missing for a reader without a database, and creates nothing', async () => {
        const name = newName();
        const tab = medium.newTab();
        await expect(tab.call('open', name, 'reader', 50)).rejects.toMatchObject({ code: 'storage-missing' });
        expect(await tab.call('names')).not.toContain(name);
      });

      it('lets a reader read every commit of the writer', async () => {
        const opened = await openNew();
        await opened.tab.call('run', CREATE);
        const reader = medium.newTab();
        await reader.call('open', opened.name, 'reader', PATIENT_MS);
        for (let count = 1; count <= 20; count += 1) {
          await opened.tab.call('run', rowsSql(1));
          expect(await reader.call('run', COUNT)).toEqual([[count]]);
        }
        await reader.call('close');
        await opened.tab.call('close');
      });

      it('lets an export read one snapshot, whatever the writer does', async () => {
        const opened = await openNew({ tuning: { checkpointAfterBytes: 64 * 1024 } });
        await opened.tab.call(
          'run',
          `${CREATE} ${rowsSql(3000)} CREATE TABLE twin(id INTEGER PRIMARY KEY, content TEXT); INSERT INTO twin SELECT * FROM entry`,
        );
        const exporting = medium
          .newTab()
          .call(
            'queryExport',
            opened.name,
            `${CHECK}; SELECT (SELECT sum(length(content)) FROM entry) = (SELECT sum(length(content)) FROM twin)`,
          );
        for (let count = 0; count < 20; count += 1) {
          await opened.tab.call(
            'run',
            `BEGIN; UPDATE entry SET content = 'new${count}' WHERE id % 20 = ${count}; UPDATE twin SET content = 'new${count}' WHERE id % 20 = ${count}; COMMIT`,
          );
        }
        expect((await exporting).rows).toEqual([[1]]);
        await opened.tab.call('close');
      });

      it('bounds the log while a reader holds a snapshot: past the limit the reader must read again [CT-log-bound]', async () => {
        const logLimitBytes = 512 * 1024;
        const opened = await openNew({
          tuning: { checkpointAfterBytes: 64 * 1024, segmentGrowthBytes: 16 * 1024, logLimitBytes },
        });
        await opened.tab.call('run', `${CREATE} ${rowsSql(2000)}`);
        // Checkpoints the large transaction, so that its segment is truncated at its next use.
        await opened.tab.call('checkpoint', 1000);
        const reader = medium.newTab();
        await reader.call('open', opened.name, 'reader', PATIENT_MS, { tuning: { poolSizeBytes: 4 * 65536 } });
        await reader.call('run', TINY_CACHE);
        await reader.call('beginScan', 'SELECT length(content) FROM entry');
        let largestBytes = 0;
        for (let count = 0; count < 60; count += 1) {
          await opened.tab.call('run', `UPDATE entry SET content = 'short' WHERE id % 60 = ${count}`);
          largestBytes = Math.max(largestBytes, (await opened.tab.call('sizes', opened.name))!.logBytes);
          await opened.tab.call('checkpoint', 0);
        }
        await opened.tab.call('run', rowsSql(2000));
        for (let count = 0; count < 4; count += 1) await opened.tab.call('checkpoint', 20);
        // Both segments up to their limit, and the transaction that exceeded it.
        expect(largestBytes).toBeLessThan(2 * logLimitBytes + 1024 * 1024);
        await expect(reader.call('endScan')).rejects.toMatchObject({ resultCode: SQLITE_BUSY });
        expect(await reader.call('lastError')).toBe('storage-snapshot-lost');
        expect(await reader.call('run', COUNT)).toEqual([[4000]]);
        await reader.call('close');
        // The space of a huge transaction is freed when its segment is reused.
        for (let count = 0; count < 4; count += 1) {
          await opened.tab.call('run', rowsSql(1));
          await opened.tab.call('checkpoint', 1000);
        }
        expect((await opened.tab.call('sizes', opened.name))!.logBytes).toBeLessThan(logLimitBytes);
        await opened.tab.call('close');
      });
    } else {
      it('fails with storage-unsupported for a reader, because followers read through the leader', async () => {
        const opened = await openNew();
        await expect(medium.newTab().call('open', opened.name, 'reader', 50)).rejects.toMatchObject({
          code: 'storage-unsupported',
          fields: { missing: ['this storage allows no readers beside the writer: followers read through the leader'] },
        });
        await opened.tab.call('close');
      });

      it("fails with storage-busy for an export by a tab other than the writer's", async () => {
        const opened = await openNew();
        await opened.tab.call('run', CREATE);
        await expect(medium.newTab().call('queryExport', opened.name, COUNT)).rejects.toMatchObject({
          code: 'storage-busy',
        });
        await opened.tab.call('close');
      });
    }
  });

  if (medium.whenFull !== 'cannot-be-staged') {
    const failure = medium.whenFull === 'commit-fails' ? { resultCode: SQLITE_FULL } : { code: 'storage-full' };
    describe('a database without room', () => {
      it('fails writes with storage-full, keeps what was acknowledged, and works again when there is space', async () => {
        const opened = await openNew({ durability: 'strict' });
        const { tab } = opened;
        await tab.call('run', `${CREATE} ${rowsSql(3)}`);
        for (const sql of [rowsSql(1), `${TINY_CACHE} ${rowsSql(500)}`, "UPDATE entry SET content = 'gone'"]) {
          await tab.call('setFull', true);
          await expect(tab.call('run', sql)).rejects.toMatchObject(failure);
          expect(await tab.call('lastError')).toBe('storage-full');
          await tab.call('setFull', false);
          expect(await tab.call('run', "SELECT count(*), sum(content = 'gone') FROM entry")).toEqual([[3, 0]]);
        }
        await tab.call('run', rowsSql(2));
        const again = await reopen(opened);
        expect(await again.call('run', "SELECT count(*), sum(content = 'gone') FROM entry")).toEqual([[5, 0]]);
        await again.call('close');
      });
    });
  }
}
