import { describe, expect, it } from 'vitest';
import { pendingImport } from '../log/recovery.ts';
import { openFiles } from '../open-files.ts';
import { openStorage } from '../open-storage.ts';
import { crashImages, seededRandom } from '../../testing/crash-images.ts';
import type { CrashImage } from '../../testing/crash-images.ts';
import { SMALL_TUNING } from '../../testing/crash-workload.ts';
import { exportedBytes } from '../../testing/exported-bytes.ts';
import { loadNodeSqlite } from '../../testing/node-sqlite.ts';
import { SimulatedDisk } from '../../testing/simulated-disk.ts';
import { TestConnection } from '../../testing/test-connection.ts';
import type { TestModule } from '../../testing/test-connection.ts';
import { exportFile } from './export-file.ts';
import { importFile } from './import-file.ts';
import { quarantineStorage } from './quarantine-storage.ts';
import { atLevel } from '../../../../tests/kit/level.ts';

const NAME = 'ledger';

/**
 * Of this many crashes or failures, one is examined; `npm run verify` examines all. Each call has one or six crashes,
 * so that this number reaches every kind.
 */
const oneOf = atLevel({ test: 5, verify: 1 });

async function open(
  disk: SimulatedDisk,
  module: TestModule,
  name: string,
): Promise<{ connection: TestConnection; close(): Promise<void> }> {
  const storage = await openStorage({
    name,
    medium: disk.medium(),
    role: 'writer',
    durability: 'strict',
    pageSizeBytes: 1024,
    tuning: SMALL_TUNING,
  });
  const connection = new TestConnection(module, storage);
  return {
    connection,
    async close() {
      connection.close();
      await storage.close();
    },
  };
}

async function build(disk: SimulatedDisk, module: TestModule, name: string, mark: string, rows: number): Promise<void> {
  const { connection, close } = await open(disk, module, name);
  connection.run(`CREATE TABLE entry(mark TEXT, content TEXT); INSERT INTO entry
    SELECT '${mark}', printf('%.*c', 300, 'x') FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n)`);
  await close();
}

/** Returns which database a disk has, after checking that it is whole. */
async function contentOf(disk: SimulatedDisk, module: TestModule): Promise<string> {
  const { connection, close } = await open(disk, module, NAME);
  const check = connection.value('PRAGMA integrity_check');
  const isThere = connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'entry'") === 1;
  const rows = isThere ? connection.run('SELECT DISTINCT mark, count(*) FROM entry') : [['nothing', 0]];
  // The imported database can be written to, and the next opening finds that write.
  connection.run('CREATE TABLE after(x); INSERT INTO after VALUES (1)');
  await close();
  return `${String(check)}: ${rows.map((row) => row.join(' × ')).join(', ')}`;
}

async function exportedBlob(mark: string, rows: number, module: TestModule): Promise<Blob> {
  const disk = new SimulatedDisk();
  await build(disk, module, 'source', mark, rows);
  return new Blob([await exportedBytes(await exportFile('source', disk.medium()))]);
}

/**
 * Exports the database as the crash left it, before anything opens it and after a quarantine, and returns the contents.
 */
async function exportedContents(image: CrashImage, module: TestModule): Promise<string[]> {
  const quarantined = image.restore();
  const newName = await quarantineStorage(NAME, quarantined.medium());
  const contents: string[] = [];
  for (const [name, medium] of [
    [NAME, image.restore().medium()],
    [NAME, image.restore().medium({ isExclusive: true })],
    [newName, quarantined.medium()],
  ] as const) {
    const files = new Map([[`${NAME}.sqlite`, await exportedBytes(await exportFile(name, medium))]]);
    contents.push(await contentOf(new SimulatedDisk({ files }), module));
  }
  return contents;
}

/** Imports `third` over what the crash left, and a file that `check` refuses. */
async function expectNextImports(image: CrashImage, left: string, third: Blob, module: TestModule): Promise<void> {
  const disk = image.restore();
  await importFile({ name: NAME, medium: disk.medium(), source: third });
  expect(await contentOf(disk, module)).toBe('ok: third × 5');
  const unchanged = image.restore();
  const check = (): never => {
    throw new Error('refused');
  };
  const refused = importFile({ name: NAME, medium: unchanged.medium(), source: third, check });
  await expect(refused).rejects.toThrow('refused');
  expect(await contentOf(unchanged, module)).toBe(left);
}

describe('a crash after any call of an import', () => {
  for (const [title, oldRows, newRows] of [
    ['of a larger file', 40, 90],
    ['of a smaller file', 90, 30],
    ['under a new name', 0, 60],
  ] as const) {
    it(`leaves either the old database or the new one complete: an import ${title} [CT-import]`, async () => {
      const module = await loadNodeSqlite();
      const blob = await exportedBlob('new', newRows, module);
      const third = await exportedBlob('third', 5, module);
      const before = new SimulatedDisk({ keepCalls: true });
      if (oldRows > 0) await build(before, module, NAME, 'old', oldRows);
      const from = before.callCount;

      await importFile({ name: NAME, medium: before.medium(), source: blob });

      const oldContent = oldRows > 0 ? `ok: old × ${oldRows}` : 'ok: nothing × 0';
      const newContent = `ok: new × ${newRows}`;
      const seen = new Map<string, number>();
      let firstNew = Infinity;
      let images = 0;
      for (const image of crashImages(before, seededRandom(7), 2)) {
        if (image.callCount < from || images++ % oneOf !== 0) continue;
        const content = await contentOf(image.restore(), module);
        seen.set(content, (seen.get(content) ?? 0) + 1);
        if (content === newContent) firstNew = Math.min(firstNew, image.callCount);
        // Once importFile has returned, the new database stays.
        if (image.callCount === before.calls.length) expect(content).toBe(newContent);
        if (image.restore().file(`${NAME}.sqlite`) !== undefined)
          expect(await exportedContents(image, module)).toEqual([content, content, content]);
        await expectNextImports(image, content, third, module);
      }
      expect([...seen.keys()].sort()).toEqual([newContent, oldContent].sort());
      expect([...seen.values()].reduce((sum, count) => sum + count)).toBeGreaterThan(30 / oneOf);
      expect(firstNew).toBeLessThan(before.calls.length);
    });
  }
});

it('an interrupted import without its staged file can be exported, but neither opened nor continued', async () => {
  const module = await loadNodeSqlite();
  const source = await exportedBlob('new', 30, module);
  const before = new SimulatedDisk({ keepCalls: true });
  await importFile({ name: NAME, medium: before.medium(), source });
  let interrupted = 0;
  for (const image of crashImages(before, seededRandom(7), 1)) {
    const disk = image.restore();
    const files = await openFiles(disk.medium(), NAME, false);
    if (files === undefined || pendingImport(files.segments) === undefined) continue;
    interrupted += 1;
    await disk.medium().remove(`${NAME}~import.sqlite`);
    const sizeBytes = files.database.sizeBytes();
    await expect(open(disk, module, NAME)).rejects.toMatchObject({ code: 'storage-corrupt' });
    const next = importFile({ name: NAME, medium: disk.medium(), source });
    await expect(next).rejects.toMatchObject({ code: 'storage-corrupt' });
    expect(await exportedBytes(await exportFile(NAME, disk.medium()))).toHaveLength(sizeBytes);
  }
  expect(interrupted).toBeGreaterThan(5);
});

describe('a failing disk', () => {
  it.each([
    ['full disk', 'write', 'negative'],
    ['disk that reports too little of a write', 'write', 'negative-after-write'],
    ['disk that takes half of a write', 'write', 'short'],
    ['disk that refuses a flush', 'flush', 'lost'],
  ] as const)(
    'makes an import fail at any of its calls, and keeps the old database without leaving other files: a %s [CT-import-full]',
    async (_, kind, fault) => {
      const module = await loadNodeSqlite();
      const blob = await exportedBlob('new', 90, module);
      const outcomes = new Set<string>();
      for (let failing = 1; failing < 400; failing += oneOf) {
        const disk = new SimulatedDisk({ canLosePower: true });
        await build(disk, module, NAME, 'old', 40);
        let calls = 0;
        // Every second time the power fails afterwards, and nothing that was not flushed survives.
        const losesPower = failing % 2 === 0;
        disk.fault = (call) => {
          if (call.kind !== kind) return undefined;
          calls += 1;
          return calls === failing >> 1 ? fault : undefined;
        };
        const failure: unknown = await importFile({ name: NAME, medium: disk.medium(), source: blob }).catch(
          (error: unknown) => error,
        );
        if (calls < failing >> 1) break;
        disk.fault = undefined;
        const isStaged = (await disk.medium().list()).some((file) => file.includes('~import'));
        if (losesPower) disk.losePower(() => 0);
        const { connection, close } = await open(disk, module, NAME);
        expect(connection.value('PRAGMA integrity_check')).toBe('ok');
        const mark = String(connection.value('SELECT mark FROM entry'));
        expect(connection.value('SELECT count(*) FROM entry')).toBe(mark === 'old' ? 40 : 90);
        await close();
        // The caller receives no error for a failed copy of the old log, because the next WAL checkpoint repeats the
        // copy.
        if (failure === undefined) expect(mark).toBe('new');
        else expect(failure).toMatchObject({ code: kind === 'write' ? 'storage-full' : 'storage-lost' });
        if (mark === 'old' && !losesPower) expect(isStaged).toBe(false);
        outcomes.add(`${mark}, ${failure === undefined ? 'imported' : 'failed'}`);
      }
      expect(outcomes).toContain('old, failed');
    },
  );
});
