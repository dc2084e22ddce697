import { beforeAll, describe, expect, it } from 'vitest';
import { checksum } from '../log/checksum.ts';
import { FORMAT_VERSION, SEGMENT_HEADER_BYTES } from '../log/segment-header.ts';
import { putNumber, wordBuffer } from '../log/words.ts';
import { memoryMedium } from '../media/memory.ts';
import { openStorage } from '../open-storage.ts';
import type { OpenStorageOptions, Storage } from '../storage.ts';
import { SMALL_TUNING } from '../../testing/crash-workload.ts';
import { loadNodeSqlite } from '../../testing/node-sqlite.ts';
import { SimulatedDisk } from '../../testing/simulated-disk.ts';
import { vfsOf } from './register-vfs.ts';
import { TestConnection } from '../../testing/test-connection.ts';
import type { TestModule } from '../../testing/test-connection.ts';

let module: TestModule;

beforeAll(async () => {
  module = await loadNodeSqlite();
});

interface Opened {
  readonly disk: SimulatedDisk;
  readonly storage: Storage;
  readonly connection: TestConnection;
}

async function open(
  disk: SimulatedDisk = new SimulatedDisk(),
  options: Partial<OpenStorageOptions> = {},
): Promise<Opened> {
  const storage = await openStorage({
    name: 'vfs',
    medium: disk.medium(),
    role: 'writer',
    pageSizeBytes: 1024,
    tuning: SMALL_TUNING,
    ...options,
  });
  return { disk, storage, connection: new TestConnection(module, storage) };
}

async function close(opened: Opened): Promise<void> {
  opened.connection.close();
  await opened.storage.close();
}

/** Closes, reopens from the disk, and returns the value. */
async function valueAfterReopening(opened: Opened, sql: string): Promise<unknown> {
  await close(opened);
  const again = await open(opened.disk);
  expect(again.connection.value('PRAGMA integrity_check')).toBe('ok');
  const value = again.connection.value(sql);
  await close(again);
  return value;
}

const ROWS = (count: number): string =>
  `INSERT INTO t(content) SELECT printf('%.*c', 400, 'x') FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i FROM n);`;
const CREATE = 'CREATE TABLE t(id INTEGER PRIMARY KEY, content TEXT);';
const COUNT = 'SELECT count(*) FROM t';

/**
 * With a page cache of five pages, every transaction overflows the cache, so SQLite writes pages early and opens a
 * journal.
 */
const TINY_CACHE = 'PRAGMA cache_size = 5;';

describe('a transaction larger than the page cache', () => {
  it('commits whole', async () => {
    const opened = await open();
    opened.connection.run(TINY_CACHE + CREATE + ROWS(800));
    expect(opened.connection.value(COUNT)).toBe(800);
    expect(await valueAfterReopening(opened, COUNT)).toBe(800);
  });

  it('leaves nothing behind if it is rolled back', async () => {
    const opened = await open();
    opened.connection.run(TINY_CACHE + CREATE + ROWS(100));
    const callsBefore = opened.disk.callCount;
    opened.connection.run(`BEGIN; ${ROWS(800)} UPDATE t SET content = 'gone'; DELETE FROM t WHERE id > 50; ROLLBACK;`);
    expect(opened.disk.callCount).toBe(callsBefore);
    expect(opened.connection.run("SELECT count(*), sum(content = 'gone') FROM t")).toEqual([[100, 0]]);
    let writtenBytes = 0;
    opened.disk.fault = (call) => {
      writtenBytes += call.sizeBytes;
      return undefined;
    };
    opened.connection.run(ROWS(1));
    // Enough for three pages and their record, the growth of the segment and a swap, but not for the 300 KB that were
    // rolled back.
    expect(writtenBytes).toBeLessThan(32 * 1024);
    opened.disk.fault = undefined;
    expect(await valueAfterReopening(opened, COUNT)).toBe(101);
  });

  it('undoes only what was written after the savepoint that it rolls back to', async () => {
    const opened = await open();
    opened.connection.run(
      `${TINY_CACHE}${CREATE} BEGIN; ${ROWS(300)} SAVEPOINT a; ${ROWS(300)} SAVEPOINT b; DELETE FROM t; ROLLBACK TO a; ${ROWS(30)} COMMIT;`,
    );
    expect(await valueAfterReopening(opened, COUNT)).toBe(330);
  });

  it('leaves nothing behind if the connection closes in the middle of it', async () => {
    const opened = await open();
    opened.connection.run(`${TINY_CACHE}${CREATE} ${ROWS(10)} BEGIN; ${ROWS(800)}`);
    expect(await valueAfterReopening(opened, COUNT)).toBe(10);
  });

  it('undoes a statement that fails, and commits the rest', async () => {
    const opened = await open();
    opened.connection.run(`${TINY_CACHE}${CREATE} BEGIN; ${ROWS(300)}`);
    expect(() =>
      opened.connection.run('INSERT INTO t(id, content) SELECT 450 - id, content FROM t ORDER BY id'),
    ).toThrow();
    opened.connection.run('COMMIT');
    expect(await valueAfterReopening(opened, COUNT)).toBe(300);
  });
});

describe('the VFS methods for files', () => {
  const CANNOT_OPEN = 14;
  const MAIN_JOURNAL = 0x800;
  const [EXISTS, READWRITE, READ] = [0, 1, 2];

  /** Calls the methods as SQLite does, with pointers to texts. */
  function vfsCalls(storage: Storage): {
    access(path: string, flags?: number): number;
    open(path: string | null, flags: number): number;
    delete(path: string): void;
    close(): void;
  } {
    const vfs = vfsOf(module);
    const out = module._sqlite3_malloc(8);
    const opened: number[] = [];
    const withText = <T>(text: string | null, body: (pointer: number) => T): T => {
      if (text === null) return body(0);
      const sizeBytes = module.lengthBytesUTF8(text) + 1;
      const pointer = module._sqlite3_malloc(sizeBytes);
      module.stringToUTF8(text, pointer, sizeBytes);
      try {
        return body(pointer);
      } finally {
        module._sqlite3_free(pointer);
      }
    };
    storage.register(module);
    return {
      access: (path, flags = EXISTS) =>
        withText(path, (pointer) => (vfs.xAccess(0, pointer, flags, out), module.HEAP32[out >> 2]!)),
      open(path, flags) {
        const file = module._sqlite3_malloc(8);
        opened.push(file);
        return withText(path, (pointer) => vfs.xOpen(0, pointer, file, flags, 0));
      },
      delete: (path) => withText(path, (pointer) => void vfs.xDelete(0, pointer)),
      close() {
        for (const file of opened) vfs.xClose(file);
        for (const pointer of [out, ...opened]) module._sqlite3_free(pointer);
      },
    };
  }

  it('report that a database exists once it has a byte, and a journal once it is created', async () => {
    const disk = new SimulatedDisk();
    const { storage, connection } = await open(disk);
    const files = vfsCalls(storage);
    const all = [storage.path, `${storage.path}-journal`, `${storage.path}-wal`, `${storage.path}x`];
    expect(all.map((path) => files.access(path))).toEqual([0, 0, 0, 0]);
    connection.run(CREATE);
    expect(all.map((path) => files.access(path))).toEqual([1, 0, 0, 0]);
    expect([EXISTS, READWRITE, READ].map((flags) => files.access(storage.path, flags))).toEqual([1, 1, 1]);
    expect(files.open(`${storage.path}-journal`, MAIN_JOURNAL | 0x6)).toBe(0);
    expect(all.map((path) => files.access(path))).toEqual([1, 1, 0, 0]);
    files.delete(`${storage.path}-journal`);
    expect(all.map((path) => files.access(path))).toEqual([1, 0, 0, 0]);
    const reader = await openStorage({ name: 'vfs', medium: disk.medium(), role: 'reader', tuning: SMALL_TUNING });
    const read = vfsCalls(reader);
    expect([EXISTS, READWRITE, READ].map((flags) => read.access(reader.path, flags))).toEqual([1, 0, 1]);
    read.close();
    files.close();
    await reader.close();
    connection.close();
    expect(await storage.close()).toBeUndefined();
  });

  it('open only files that exist or may be created', async () => {
    const { storage, connection } = await open();
    const files = vfsCalls(storage);
    const journal = `${storage.path}-journal`;
    expect(files.open(journal, MAIN_JOURNAL | 0x2)).toBe(CANNOT_OPEN);
    expect(files.open(journal, MAIN_JOURNAL | 0x1)).toBe(CANNOT_OPEN);
    expect(files.access(journal)).toBe(0);
    expect(files.open(journal, MAIN_JOURNAL | 0x6)).toBe(0);
    expect(files.open(journal, MAIN_JOURNAL | 0x1)).toBe(0);
    // A temporary file has no name.
    expect(files.open(null, 0x1e)).toBe(0);
    files.close();
    connection.close();
    await storage.close();
  });
});

describe('a log of a newer format', () => {
  for (const role of ['writer', 'reader'] as const) {
    it(`is not opened by a ${role}, and stays unchanged`, async () => {
      const opened = await open();
      opened.connection.run(CREATE + ROWS(3));
      const disk = new SimulatedDisk({
        files: new Map(
          ['vfs.sqlite', 'vfs.sqlite-log0', 'vfs.sqlite-log1'].map((name) => [name, contentOf(opened.disk, name)]),
        ),
      });
      await close(opened);
      // A state that this version does not know, in a header with a valid checksum.
      const later = wordBuffer(SEGMENT_HEADER_BYTES);
      const segment = ['vfs.sqlite-log0', 'vfs.sqlite-log1'].find((name) =>
        contentOf(disk, name)
          .subarray(0, 4)
          .some((byte) => byte !== 0),
      )!;
      later.bytes.set(contentOf(disk, segment).subarray(0, SEGMENT_HEADER_BYTES));
      later.words[1] = FORMAT_VERSION + 1;
      later.words[5] = 77;
      putNumber(later.words, 14, checksum(later.words, 0, 14, later.words[0]!));
      disk.file(segment)!.write(later.bytes, 0);
      const before = contentOf(disk, segment);
      await expect(
        openStorage({ name: 'vfs', medium: disk.medium(), role, tuning: SMALL_TUNING }),
      ).rejects.toMatchObject({
        code: 'storage-newer',
        fields: { logFormat: FORMAT_VERSION + 1, supported: FORMAT_VERSION },
      });
      expect(contentOf(disk, segment)).toEqual(before);
    });
  }

  function contentOf(disk: SimulatedDisk, name: string): Uint8Array {
    const file = disk.file(name)!;
    const content = new Uint8Array(file.sizeBytes);
    file.read(content, 0);
    return content;
  }
});

describe('VACUUM', () => {
  it('makes the file smaller and keeps the rows', async () => {
    const opened = await open();
    opened.connection.run(`${CREATE} ${ROWS(1000)} DELETE FROM t WHERE id > 100; VACUUM;`);
    await opened.storage.checkpoint();
    expect(opened.disk.file('vfs.sqlite')!.sizeBytes).toBeLessThan(100_000);
    opened.connection.run(ROWS(200));
    expect(await valueAfterReopening(opened, COUNT)).toBe(300);
  });

  for (const [from, to] of [
    [1024, 4096],
    [4096, 1024],
    [8192, 512],
    [512, 65536],
  ] as const) {
    it(`changes the page size from ${from} to ${to} and stays usable`, async () => {
      const opened = await open(new SimulatedDisk(), { pageSizeBytes: from });
      const { connection } = opened;
      connection.run(`${CREATE} ${ROWS(300)} PRAGMA page_size = ${to}; VACUUM;`);
      expect(connection.value('PRAGMA page_size')).toBe(to);
      connection.run(`${ROWS(50)} BEGIN; DELETE FROM t WHERE id < 10; ROLLBACK; ${TINY_CACHE} ${ROWS(50)}`);
      expect(connection.value('PRAGMA integrity_check')).toBe('ok');
      await opened.storage.checkpoint();
      connection.run(ROWS(7));
      expect(await valueAfterReopening(opened, COUNT)).toBe(407);
    });
  }

  it('frees space at every commit with auto_vacuum', async () => {
    const opened = await open();
    opened.connection.run(`PRAGMA auto_vacuum = FULL; ${CREATE}`);
    for (let round = 0; round < 10; round += 1) {
      opened.connection.run(`${ROWS(200)} DELETE FROM t WHERE id % 20 <> 0;`);
      expect(opened.connection.value('PRAGMA integrity_check')).toBe('ok');
    }
    await opened.storage.checkpoint();
    expect(opened.disk.file('vfs.sqlite')!.sizeBytes).toBeLessThan(150_000);
    expect(await valueAfterReopening(opened, COUNT)).toBe(100);
  });
});

describe('pages that are read from storage', () => {
  it('are the latest ones in the pool, the log, the sealed log and the database file', async () => {
    const opened = await open();
    const { connection } = opened;
    connection.run(TINY_CACHE + CREATE + ROWS(2000));
    for (let round = 1; round <= 12; round += 1) {
      connection.run(`UPDATE t SET content = printf('%d %.*c', ${round}, 350, 'y') WHERE id % 13 = ${round % 13}`);
      if (round % 4 === 0) await opened.storage.checkpoint();
      const wrong = connection.value(
        `SELECT count(*) FROM t WHERE id % 13 BETWEEN 1 AND ${round} AND CAST(content AS INTEGER) <> id % 13`,
      );
      expect(wrong).toBe(0);
      expect(connection.value('PRAGMA integrity_check')).toBe('ok');
    }
    await close(opened);
  });

  it('serve temporary tables, sorting and indexes that exceed the memory limit', async () => {
    const opened = await open();
    const { connection } = opened;
    connection.run(
      `PRAGMA temp_store = FILE; ${TINY_CACHE}${CREATE} ${ROWS(3000)} CREATE TEMP TABLE copy AS SELECT * FROM t; CREATE INDEX by_content ON t(content, id DESC);`,
    );
    expect(
      connection.value('SELECT count(*) FROM (SELECT DISTINCT content || id AS x FROM copy ORDER BY x DESC)'),
    ).toBe(3000);
    expect(await valueAfterReopening(opened, COUNT)).toBe(3000);
  });
});

describe('settings', () => {
  it('use 8 KB pages for a new database by default', async () => {
    const storage = await openStorage({ name: 'fresh', medium: memoryMedium(), role: 'writer' });
    const connection = new TestConnection(module, storage);
    connection.run(CREATE);
    expect(connection.value('PRAGMA page_size')).toBe(8192);
    connection.close();
    await storage.close();
  });

  it('log the changed pieces instead of whole pages', async () => {
    const opened = await open(new SimulatedDisk(), { pageSizeBytes: 8192, tuning: {} });
    opened.connection.run(
      `PRAGMA page_size = 8192; CREATE TABLE k(key TEXT PRIMARY KEY, content TEXT); INSERT INTO k VALUES ('a', 'x')`,
    );
    const writtenBytes: number[] = [];
    opened.disk.fault = (call) => {
      if (call.kind === 'write') writtenBytes.push(call.sizeBytes);
      return undefined;
    };
    // Page 1, the table and its index: 24 KB.
    opened.connection.run("INSERT INTO k VALUES ('b', 'y')");
    expect(writtenBytes).toHaveLength(1);
    expect(writtenBytes[0]).toBeLessThan(8 * 1024);
    opened.disk.fault = undefined;
    expect(await valueAfterReopening(opened, 'SELECT group_concat(content) FROM k')).toBe('x,y');
  });

  it('commit without a journal file and with one write', async () => {
    const opened = await open(new SimulatedDisk(), { tuning: { flushWithinMs: Infinity } });
    opened.connection.run(CREATE + ROWS(1));
    let writes = 0;
    opened.disk.fault = (call) => {
      writes += call.kind === 'write' ? 1 : 100;
      return undefined;
    };
    opened.connection.run(ROWS(1));
    expect(writes).toBe(1);
    opened.disk.fault = undefined;
    await close(opened);
  });

  for (const pragma of [
    'synchronous = OFF',
    'synchronous = 0',
    'journal_mode = WAL',
    "journal_mode = 'off'",
    'locking_mode = EXCLUSIVE',
    'main.journal_mode = wal',
  ]) {
    it(`reject PRAGMA ${pragma}`, async () => {
      const opened = await open();
      opened.connection.run(CREATE);
      expect(() => opened.connection.run(`PRAGMA ${pragma}`)).toThrow(/is not supported/);
      opened.connection.run(ROWS(3));
      expect(await valueAfterReopening(opened, COUNT)).toBe(3);
    });
  }

  it('can be read', async () => {
    const opened = await open();
    expect(opened.connection.value('PRAGMA journal_mode')).toBe('delete');
    expect(opened.connection.value('PRAGMA synchronous')).toBe(2);
    await close(opened);
  });
});
