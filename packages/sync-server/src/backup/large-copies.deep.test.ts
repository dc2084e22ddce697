import { statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryDestination } from '../../testing/memory-destination.ts';
import { growDatabase, writePage } from '../../testing/sparse-database.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { PageSums, pageSum } from '../sqlite/page-sums.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { writeMissingSums } from '../store/accept-file.ts';
import { verifyPages } from '../store/verify-pages.ts';
import { fetchPages } from './fetch-pages.ts';
import { listCopies } from './generations.ts';
import { PageCopier } from './page-copier.ts';
import { planRestore, type RestorePlan } from './restore-plan.ts';
import { StillFile } from './still-file.ts';

const PAGE_BYTES = 4096;
/** More than fits into an unsigned 32-bit number, and not a whole number of parts. */
const SIZE_BYTES = 2 ** 32 + 10 * 1024 ** 2 + PAGE_BYTES;
const LAST_PAGE = SIZE_BYTES / PAGE_BYTES;
const PAGES = [2 ** 31 / PAGE_BYTES + 1, 2 ** 32 / PAGE_BYTES + 1, LAST_PAGE];
const MAX_ADDED_MEMORY_BYTES = 768 * 1024 ** 2;
const SOURCE = 'db-large';

const contentOf = (page: number): Buffer => Buffer.alloc(PAGE_BYTES, `page ${page} `);

describe('a file of more than 4 GiB', () => {
  let path: string;
  let before: number;
  beforeEach(() => {
    path = join(temporaryFolder(), 'large.sqlite');
    const sql = new SqliteFile(path);
    sql.exec('CREATE TABLE item (id INTEGER PRIMARY KEY)');
    sql.close();
    growDatabase(path, SIZE_BYTES);
    for (const page of PAGES) writePage(path, page, contentOf(page));
    before = process.memoryUsage().rss;
  });

  const addedMemory = (): number => process.memoryUsage().rss - before;

  it('is verified to its last page in little memory', async () => {
    const sums = PageSums.open(path, PAGE_BYTES);
    sums.write(new Map(PAGES.map((page) => [page, pageSum(contentOf(page))])));
    sums.close();
    const unknown = LAST_PAGE - PAGES.length;
    expect(await verifyPages(path)).toEqual({ compared: PAGES.length, unknown, damaged: [] });
    writePage(path, LAST_PAGE, contentOf(0));
    expect(await verifyPages(path)).toEqual({ compared: PAGES.length, unknown, damaged: [LAST_PAGE] });
    expect(addedMemory()).toBeLessThan(MAX_ADDED_MEMORY_BYTES);
  });

  it('gets a checksum for each page in little memory', () => {
    expect(writeMissingSums(path)).toBe(LAST_PAGE);
    const sums = PageSums.openExisting(path) as PageSums;
    expect(sums.pageCount).toBe(LAST_PAGE);
    for (const page of PAGES) expect([...sums.read(page, 1)]).toEqual([pageSum(contentOf(page))]);
    sums.close();
    expect(addedMemory()).toBeLessThan(MAX_ADDED_MEMORY_BYTES);
  });

  it('is copied by the continuous backup and restored in little memory', async () => {
    const destination = new MemoryDestination();
    const copier = new PageCopier({
      databasePath: path,
      source: SOURCE,
      destination,
      now: () => 1_000,
      maxGenerationMs: Infinity,
      onGeneration: () => undefined,
      onStored: () => undefined,
    });
    expect(await copier.copy(new StillFile(path))).toBe(true);
    copier.close();
    const plan = planRestore(await listCopies(destination, SOURCE), Infinity) as RestorePlan;
    const restored = `${path}.restored`;
    // Compares every page with the sum of all pages.
    await fetchPages(destination, plan, restored, { atMs: Infinity });
    expect(statSync(restored).size).toBe(SIZE_BYTES);
    const capture = new StillFile(restored).begin();
    for (const page of PAGES) expect(capture.read(page).equals(contentOf(page))).toBe(true);
    capture.end();
    expect(addedMemory()).toBeLessThan(MAX_ADDED_MEMORY_BYTES);
  });
});
