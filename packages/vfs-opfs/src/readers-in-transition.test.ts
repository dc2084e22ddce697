import { beforeAll, describe, expect, it } from 'vitest';
import { exportedBytes } from '../testing/exported-bytes.ts';
import { newNodeSqlite } from '../testing/node-sqlite.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import type { TestModule } from '../testing/test-connection.ts';
import { COUNT, CREATE, INSERT, closeWorker, fill, openTestWorker } from '../testing/test-worker.ts';
import { exportFile } from './files/export-file.ts';

// Produces moments between two states that random tests rarely reach.

let modules: TestModule[] = [];

beforeAll(async () => {
  modules = await Promise.all([newNodeSqlite(), newNodeSqlite()]);
});

describe('an export', () => {
  it('contains one commit even if the writer swaps the log’s segments before the export locks the log', async () => {
    const disk = new SimulatedDisk();
    const writer = await openTestWorker(disk, 'writer', modules[0]!);
    writer.connection.run(CREATE);
    const medium = disk.medium();
    let isSwapped = false;
    const swapping = {
      ...medium,
      locks: {
        request: async (...asked: Parameters<typeof medium.locks.request>) => {
          if (asked[0].includes(':snapshot:') && !isSwapped) {
            isSwapped = true;
            fill(writer.connection, 900);
            await writer.storage.checkpoint(1000);
            fill(writer.connection, 900);
            await writer.storage.checkpoint(1000);
            // The row is only in the log.
            writer.connection.run(INSERT);
          }
          return medium.locks.request(...asked);
        },
      },
    };
    const bytes = await exportedBytes(await exportFile('shared', swapping));
    expect(isSwapped).toBe(true);
    const copy = await openTestWorker(
      new SimulatedDisk({ files: new Map([['shared.sqlite', bytes]]) }),
      'writer',
      modules[1]!,
    );
    expect(copy.connection.value(COUNT)).toBe(1801);
    expect(copy.connection.value('PRAGMA integrity_check')).toBe('ok');
    for (const worker of [copy, writer]) await closeWorker(worker);
  });
});

describe('a reader', () => {
  it('continues from the database file when the sealed segment of its snapshot is reused', async () => {
    const disk = new SimulatedDisk();
    const writer = await openTestWorker(disk, 'writer', modules[0]!);
    writer.connection.run(CREATE);
    await writer.storage.checkpoint();
    const reader = await openTestWorker(disk, 'reader', modules[1]!);
    reader.connection.run('PRAGMA cache_size = 5');
    // This commit seals the generation. The copy runs only after the reader has begun, with a snapshot that ends in the
    // next generation.
    fill(writer.connection, 3000);
    const statement = reader.connection.prepare('SELECT id, length(content) FROM entry ORDER BY id');
    expect(statement.step()).toEqual([1, 300]);
    expect(await writer.storage.checkpoint(1000)).toBe(true);
    expect(disk.file('shared.sqlite')!.sizeBytes).toBeGreaterThan(900_000);
    writer.connection.run("UPDATE entry SET content = 'overwritten'");
    writer.connection.run(
      "UPDATE entry SET content = 'overwritten again, with other bytes at the places of the old ones'",
    );
    let rows = 1;
    for (let row = statement.step(); row !== undefined; row = statement.step()) {
      rows += 1;
      expect(row).toEqual([rows, 300]);
    }
    statement.finalize();
    expect(rows).toBe(3000);
    expect(reader.storage.lastError).toBeUndefined();
    for (const worker of [reader, writer]) await closeWorker(worker);
  });

  it('finds the latest commit if the writer dies between beginning a generation and sealing the one before [CT-no-seal]', async () => {
    const disk = new SimulatedDisk();
    let writer = await openTestWorker(disk, 'writer', modules[0]!);
    writer.connection.run(CREATE);
    const reader = await openTestWorker(disk, 'reader', modules[1]!);
    disk.fault = (call) => {
      // A generation begins with a write of a header and an end mark. This write still takes effect.
      if (call.kind === 'write' && call.sizeBytes === 4096 + 64) writer.medium.kill();
      return undefined;
    };
    fill(writer.connection, 300);
    expect(writer.storage.lastError?.code).toBe('storage-lost');
    disk.fault = undefined;
    writer.connection.close();
    expect(reader.connection.value(COUNT)).toBe(300);
    writer = await openTestWorker(disk, 'writer', modules[0]!);
    writer.connection.run(INSERT);
    expect(writer.connection.value(COUNT)).toBe(301);
    expect(reader.connection.value(COUNT)).toBe(301);
    for (const worker of [reader, writer]) await closeWorker(worker);
  });

  for (const failedLength of [6, 20_000]) {
    it(`drops a transaction with a text of ${failedLength} that was fully visible for a moment and then failed`, async () => {
      const disk = new SimulatedDisk();
      const writer = await openTestWorker(disk, 'writer', modules[0]!, {
        checkpointAfterBytes: 1024 * 1024,
        recordSizeBytes: 64 * 1024,
      });
      const reader = await openTestWorker(disk, 'reader', modules[1]!);
      writer.connection.run(
        "CREATE TABLE note(id INTEGER PRIMARY KEY, content TEXT); INSERT INTO note VALUES (1, 'first')",
      );
      const initial = 'SELECT substr(content, 1, 1) FROM note WHERE id = 1';
      expect(reader.connection.value(initial)).toBe('f');
      const seen: unknown[] = [];
      let callsLeft = 1;
      disk.fault = ({ kind }) => {
        if (kind !== 'write') return undefined;
        callsLeft -= 1;
        return callsLeft === 0 ? 'negative-after-write' : undefined;
      };
      disk.observer = () => {
        seen.push(reader.connection.value(initial));
      };
      expect(() =>
        writer.connection.run(`UPDATE note SET content = printf('%.*c', ${failedLength}, 'n') WHERE id = 1`),
      ).toThrow(/full/);
      disk.observer = undefined;
      disk.fault = undefined;
      expect(seen).toContain('n');
      // If this text is as long as the failed one, the change counter and the size equal those in SQLite's cache. If it
      // is shorter, the end of the failed record is still where the reader looks, unless the record was truncated.
      writer.connection.run("UPDATE note SET content = 'second' WHERE id = 1");
      expect(reader.connection.value(initial)).toBe('s');
      for (const worker of [reader, writer]) await closeWorker(worker);
    });
  }
});
