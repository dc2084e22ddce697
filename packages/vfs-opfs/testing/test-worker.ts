import { openStorage } from '../src/open-storage.ts';
import type { Role, Storage } from '../src/storage.ts';
import type { Tuning } from '../src/tuning.ts';
import { SMALL_TUNING } from './crash-workload.ts';
import type { SimulatedDisk, SimulatedMedium } from './simulated-disk.ts';
import { TestConnection } from './test-connection.ts';
import type { TestModule } from './test-connection.ts';

/** The worker of one tab: its own SQLite, its own handles, its own locks. */
export interface TestWorker {
  readonly medium: SimulatedMedium;
  readonly storage: Storage;
  readonly connection: TestConnection;
}

export async function openTestWorker(
  disk: SimulatedDisk,
  role: Role,
  module: TestModule,
  tuning: Partial<Tuning> = {},
): Promise<TestWorker> {
  const medium = disk.medium();
  const storage = await openStorage({
    name: 'shared',
    medium,
    role,
    pageSizeBytes: 1024,
    timeoutMs: 200,
    tuning: { ...SMALL_TUNING, ...tuning },
  });
  return { medium, storage, connection: new TestConnection(module, storage) };
}

export async function closeWorker(worker: TestWorker): Promise<void> {
  worker.connection.close();
  await worker.storage.close();
}

export const CREATE = 'CREATE TABLE entry(id INTEGER PRIMARY KEY, content TEXT)';
export const INSERT = "INSERT INTO entry(content) VALUES (printf('%.*c', 300, 'x'))";
export const COUNT = 'SELECT count(*) FROM entry';

/** Adds rows of about a third of a page each. */
export function fill(connection: TestConnection, rows: number): void {
  connection.run(
    `INSERT INTO entry(content) SELECT printf('%.*c', 300, 'x') FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n)`,
  );
}
