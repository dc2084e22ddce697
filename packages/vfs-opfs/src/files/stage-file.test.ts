import { expect, it } from 'vitest';
import { exportedBytes } from '../../testing/exported-bytes.ts';
import { loadNodeSqlite } from '../../testing/node-sqlite.ts';
import { SimulatedDisk } from '../../testing/simulated-disk.ts';
import { TestConnection } from '../../testing/test-connection.ts';
import { openStorage } from '../open-storage.ts';
import { exportFile } from './export-file.ts';
import { importFile } from './import-file.ts';
import { stageFile } from './stage-file.ts';

/** A SQLite file with `rows` rows. */
async function fileOf(rows: number): Promise<Blob> {
  const disk = new SimulatedDisk();
  const storage = await openStorage({ name: 'source', medium: disk.medium(), role: 'writer' });
  const connection = new TestConnection(await loadNodeSqlite(), storage);
  connection.run(`CREATE TABLE entry(content TEXT); INSERT INTO entry
    SELECT printf('%.*c', 300, 'x') FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n)`);
  connection.close();
  await storage.close();
  return new Blob([await exportedBytes(await exportFile('source', disk.medium()))]);
}

const staged = async (disk: SimulatedDisk): Promise<string[]> =>
  (await disk.medium().list()).filter((name) => name.includes('~'));

it('a staged file replaces the larger one of a worker that was killed, and needs no room beside it', async () => {
  const disk = new SimulatedDisk();
  const [large, small] = [await fileOf(100), await fileOf(10)];
  const options = { name: 'ledger', medium: disk.medium() };
  const left = await stageFile({ ...options, source: large, sizeBytes: large.size });
  await left.storage.close();
  expect(await staged(disk)).not.toEqual([]);
  const medium = {
    ...disk.medium(),
    freeBytes: async () => ((await staged(disk)).length > 0 ? 0 : small.size),
  };
  const { storage, remove } = await stageFile({ ...options, medium, source: small, sizeBytes: small.size });
  const connection = new TestConnection(await loadNodeSqlite(), storage);
  expect(connection.value('PRAGMA integrity_check')).toBe('ok');
  expect(connection.value('SELECT count(*) FROM entry')).toBe(10);
  connection.close();
  await remove();
  expect(await staged(disk)).toEqual([]);
});

it('a staged file that is refused leaves nothing behind', async () => {
  const disk = new SimulatedDisk();
  const source = (await fileOf(100)).slice(0, 20_000);
  const refused = stageFile({ name: 'ledger', medium: disk.medium(), source, sizeBytes: source.size });
  await expect(refused).rejects.toMatchObject({ code: 'storage-corrupt' });
  expect(await staged(disk)).toEqual([]);
});

it('a source is cancelled if its content is refused', async () => {
  let isCancelled = false;
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
    cancel: () => void (isCancelled = true),
  });
  const refused = importFile({ name: 'ledger', medium: new SimulatedDisk().medium(), source });
  await expect(refused).rejects.toMatchObject({ code: 'storage-corrupt' });
  expect(isCancelled).toBe(true);
});
