import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import { acceptFile, writeMissingSums } from '../store/accept-file.ts';
import { PageSums, sumsPath } from './page-sums.ts';
import { SqliteFile } from './sqlite-file.ts';
import { verifyPages } from '../store/verify-pages.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'a.sqlite');
});

const INTACT = expect.objectContaining({ unknown: 0, damaged: [] }) as unknown;

function filled(rows = 200): SqliteFile {
  const sql = new SqliteFile(path);
  sql.transaction(() => {
    sql.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX t_text ON t (text)');
    fill(sql, 1, rows);
  });
  return sql;
}

function fill(sql: SqliteFile, from: number, rows: number): void {
  for (let id = from; id < from + rows; id++)
    sql.run('INSERT OR REPLACE INTO t VALUES (?, ?)', BigInt(id), `row ${id} `.repeat(20));
}

function flip(file: string, offset: number): void {
  const bytes = readFileSync(file);
  bytes[offset] = (bytes[offset] ?? 0) ^ 4;
  writeFileSync(file, bytes);
}

describe('the checksums of a database file', () => {
  it('detect one flipped bit in any page', async () => {
    filled().close();
    expect(await verifyPages(path)).toEqual(INTACT);
    const { size } = statSync(path);
    const original = readFileSync(path);
    for (let offset = 1; offset < size; offset += 1_531) {
      flip(path, offset);
      expect((await verifyPages(path)).damaged, `byte ${offset}`).toEqual([Math.floor(offset / 4096) + 1]);
      writeFileSync(path, original);
    }
  });

  it('stay correct through commits, checkpoints and reopening, even while the file is open', async () => {
    const sql = filled();
    for (let round = 0; round < 20; round++) {
      sql.transaction(() => fill(sql, round * 37, 300));
      if (round % 3 === 0) sql.checkpoint();
      expect((await verifyPages(path)).damaged).toEqual([]);
    }
    // A log of a thousand frames is checkpointed automatically.
    expect(
      new Set(
        Array.from(
          { length: 30 },
          (_, i) => (sql.transaction(() => fill(sql, i * 1_000, 1_000)), PageSums.openExisting(path)?.pageCount),
        ),
      ).size,
    ).toBeGreaterThan(1);
    sql.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(await verifyPages(path)).toEqual(INTACT);
  });

  it('stay correct if a server is killed at any moment around a checkpoint', async () => {
    const killed = join(folder, 'killed.sqlite');
    const copyAs = (target: string, suffixes: readonly string[]): void =>
      suffixes.forEach((suffix) => existsSync(path + suffix) && copyFileSync(path + suffix, target + suffix));
    const sql = filled();
    sql.checkpoint();
    sql.transaction(() => fill(sql, 50, 400));
    // The checksums are written but no page is moved: the old file is beside the new checksums.
    copyAs(killed, ['', '-wal']);
    sql.checkpoint();
    copyAs(killed, ['-sums']);
    expect((await verifyPages(killed)).damaged).toEqual([]);
    const next = new SqliteFile(killed);
    expect(next.get('SELECT count(*) FROM t')).toEqual([449n]);
    next.close();
    expect(await verifyPages(killed)).toEqual(INTACT);
    sql.close();
  });

  it('are computed from the file again after another program has moved the log of a killed server', async () => {
    const killed = join(folder, 'killed.sqlite');
    const sql = filled();
    sql.checkpoint();
    sql.transaction(() => fill(sql, 50, 400));
    for (const suffix of ['', '-wal', '-sums']) copyFileSync(path + suffix, killed + suffix);
    sql.close();
    // Acts like the sqlite3 shell: the last connection that closes moves the log.
    const shell = new DatabaseSync(killed);
    shell.prepare('SELECT count(*) FROM t').get();
    shell.close();
    expect(existsSync(`${killed}-wal`)).toBe(false);
    const pages = statSync(killed).size / 4096;
    expect((await verifyPages(killed)).damaged).toEqual([]);

    new SqliteFile(killed).close();
    expect(await verifyPages(killed)).toEqual({ compared: 0, unknown: pages, damaged: [] });
    expect(writeMissingSums(killed)).toBe(pages);
    expect(await verifyPages(killed)).toEqual(INTACT);
    flip(killed, 5_000);
    expect((await verifyPages(killed)).damaged).toEqual([2]);
  });

  it('are still compared after another program has only read a closed file', async () => {
    filled().close();
    const shell = new DatabaseSync(path);
    shell.prepare('SELECT count(*) FROM t').get();
    shell.close();
    flip(path, 5_000);
    expect((await verifyPages(path)).damaged).toEqual([2]);
  });

  it('detect a flipped bit in the log before it is moved into the file', () => {
    const sql = filled();
    sql.checkpoint();
    sql.transaction(() => fill(sql, 1, 5));
    flip(`${path}-wal`, 32 + 24 + 100);
    expect(() => sql.checkpoint()).toThrow(
      expect.objectContaining({ code: 'database-damaged', fields: { problem: 'log-checksum' } }),
    );
    expect(() => sql.close()).toThrow(expect.objectContaining({ code: 'database-damaged' }));
  });

  it('detect a truncated file', async () => {
    filled().close();
    const { size } = statSync(path);
    truncateSync(path, size - 4096);
    expect((await verifyPages(path)).damaged).toEqual([size / 4096]);
  });

  it('are computed from the file if an earlier version wrote none, or if an administrator accepts the file', async () => {
    filled().close();
    writeFileSync(sumsPath(path), '');
    const sql = new SqliteFile(path);
    expect(await verifyPages(path)).toMatchObject({ compared: 0, unknown: statSync(path).size / 4096, damaged: [] });
    sql.transaction(() => fill(sql, 1, 1));
    expect(writeMissingSums(path)).toBe(statSync(path).size / 4096);
    sql.close();
    expect(await verifyPages(path)).toEqual(INTACT);
    const otherProgram = new DatabaseSync(path);
    otherProgram.exec(`UPDATE t SET text = 'written past the server' WHERE id = 100`);
    otherProgram.close();
    expect((await verifyPages(path)).damaged).not.toEqual([]);
    acceptFile(path);
    expect(await verifyPages(path)).toEqual(INTACT);
  });

  it('cannot be accepted for a file that SQLite reports as damaged', async () => {
    filled().close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 4096, 3 * 4096);
    writeFileSync(path, bytes);
    expect(() => acceptFile(path)).toThrow(expect.objectContaining({ code: 'database-damaged' }));
    expect((await verifyPages(path)).damaged).toEqual([2, 3]);
  });
});
