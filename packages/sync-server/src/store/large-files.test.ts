import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { growDatabase, writePage } from '../../testing/sparse-database.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { StillFile } from '../backup/still-file.ts';
import { PageSums, pageSum } from '../sqlite/page-sums.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { readSqliteHeader } from '../sqlite/sqlite-header.ts';
import { databasePath } from './data-directory.ts';
import { outlineOfFile } from './database-outline.ts';
import { TenantSizes } from './tenant-sizes.ts';

const PAGE_BYTES = 4096;
const SIZE_BYTES = 100 * 1024 ** 3;
const LAST_PAGE = SIZE_BYTES / PAGE_BYTES;
/** The first pages whose offsets do not fit into signed and unsigned 32-bit numbers, and the last page. */
const PAGES = [2 ** 31 / PAGE_BYTES + 1, 2 ** 32 / PAGE_BYTES + 1, LAST_PAGE];

const contentOf = (page: number): Buffer => Buffer.alloc(PAGE_BYTES, `page ${page} `);

describe('a database file of 100 GB', () => {
  let path: string;
  beforeEach(() => {
    path = join(temporaryFolder(), 'large.sqlite');
    const sql = new SqliteFile(path);
    sql.exec('CREATE TABLE item (id INTEGER PRIMARY KEY)');
    sql.close();
    growDatabase(path, SIZE_BYTES);
    for (const page of PAGES) writePage(path, page, contentOf(page));
  });

  it('has all of its pages, and a copy reads each of them', () => {
    expect(readSqliteHeader(path)).toEqual({ pageSizeBytes: PAGE_BYTES, pageCount: LAST_PAGE });
    const capture = new StillFile(path).begin();
    expect(capture.pages.count).toBe(LAST_PAGE);
    for (const page of PAGES) expect(capture.read(page).equals(contentOf(page))).toBe(true);
    capture.end();
  });

  it('has a checksum for each page, and discards all of them if another program has moved the log into the file', () => {
    const sums = PageSums.open(path, PAGE_BYTES);
    sums.write(new Map(PAGES.map((page) => [page, pageSum(contentOf(page))])));
    for (const page of PAGES) expect([...sums.read(page, 1)]).toEqual([pageSum(contentOf(page))]);
    expect(sums.pageCount).toBe(LAST_PAGE);
    sums.setLogInUse(true);
    sums.close();
    rmSync(`${path}-wal`, { force: true });
    const forgotten = PageSums.open(path, PAGE_BYTES);
    for (const page of PAGES) expect([...forgotten.read(page, 1)]).toEqual([0]);
    expect(forgotten.pageCount).toBe(LAST_PAGE);
    forgotten.close();
  });
});

it('a server opens, changes, measures and limits a database of 100 GB', async () => {
  const folder = temporaryFolder();
  const path = databasePath(folder, DATABASE);
  const add = async (server: TestServer, id: string): Promise<unknown> => {
    const connection = await server.open();
    return connection.commit([insert('accounts', id, { name: id.repeat(2 * PAGE_BYTES) })]);
  };
  const small = await TestServer.start(folder);
  await add(small, 'a');
  await small.stop();
  growDatabase(path, SIZE_BYTES);

  const large = await TestServer.start(folder, { quotas: { maxDatabaseBytes: 2 * SIZE_BYTES } });
  expect(await add(large, 'b')).toMatchObject({ kind: 'admitted' });
  expect(large.query('SELECT id FROM accounts ORDER BY id')).toEqual([['a'], ['b']]);
  await large.stop();
  const { size } = statSync(path);
  expect(size).toBeGreaterThan(SIZE_BYTES);
  expect(outlineOfFile(path)).toMatchObject({ sizeBytes: size, watermark: 2, damage: null });
  const sizes = new TenantSizes(folder, (databaseId) => databasePath(folder, databaseId));
  expect(sizes.bytesOf(DATABASE)).toBe(size);
  expect([...sizes.databasesOver(SIZE_BYTES)]).toEqual([DATABASE]);

  const limited = await TestServer.start(folder, { quotas: { maxDatabaseBytes: SIZE_BYTES / 2 } });
  await expect(add(limited, 'c')).rejects.toThrow('quota-exceeded');
  await limited.stop();
});
