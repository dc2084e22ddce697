import { StorageError, deleteStorage, exportFile, listStorages, memoryMedium, openStorage, storageSizes } from '../index.ts';
import type { Durability, Medium, Role, Storage, StorageSizes, Tuning } from '../index.ts';
import { TestConnection, TestSqliteError } from './test-connection.ts';
import type { TestModule, TestValue } from './test-connection.ts';

/** What a test may set beside name and role. */
export interface TabOpenOptions {
  readonly durability?: Durability;
  readonly pageSizeBytes?: number;
  readonly tuning?: Partial<Tuning>;
}

/** An exported file: its first bytes as text, its size, and what a query finds in it. */
export interface ExportedFile {
  readonly magic: string;
  readonly sizeBytes: number;
  readonly rows: TestValue[][];
}

/** What the tests ask of a worker: one tab's share of the work. */
export interface TabCommands {
  open(name: string, role: Role, timeoutMs: number, options?: TabOpenOptions): Promise<void>;
  /** Runs, and waits until the medium has what was committed. */
  run(sql: string): Promise<TestValue[][]>;
  /** Reads again and again for a while; returns how often, and how many values were smaller than the one before. */
  watch(sql: string, durationMs: number): Promise<{ reads: number; backwards: number }>;
  checkpoint(): Promise<boolean>;
  flush(): Promise<void>;
  lastError(): Promise<string | undefined>;
  close(): Promise<void>;
  names(): Promise<readonly string[]>;
  sizes(name: string): Promise<StorageSizes | undefined>;
  remove(name: string): Promise<void>;
  /** Exports a database, opens the bytes as they are in memory, and runs a query there. */
  queryExport(name: string, sql: string): Promise<ExportedFile>;
  /** From now on, until called with false, this tab's storage has no room. */
  setFull(isFull: boolean): Promise<void>;
}

/** A failure as it leaves a tab: a storage's code, or SQLite's result code. */
export interface TabFailure {
  readonly code: string;
  readonly fields: StorageError['fields'];
  readonly resultCode?: number;
}

export interface TabTools {
  readonly medium: Medium;
  loadSqlite(): Promise<TestModule>;
  /** Makes the medium refuse writes, as a full disk does. */
  setFull(isFull: boolean): void;
}

/** One tab over a medium: at most one storage and one connection at a time. */
export function createTab(tools: TabTools): TabCommands {
  const { medium } = tools;
  let storage: Storage | undefined;
  let connection: TestConnection | undefined;
  return {
    async open(name, role, timeoutMs, options) {
      const module = await tools.loadSqlite();
      storage = await openStorage({ name, medium, role, timeoutMs, ...options });
      connection = new TestConnection(module, storage);
    },
    async run(sql) {
      const rows = connection!.run(sql);
      await storage!.committed();
      return rows;
    },
    async watch(sql, durationMs) {
      const end = performance.now() + durationMs;
      let last = -1;
      let reads = 0;
      let backwards = 0;
      while (performance.now() < end) {
        const value = Number(connection!.value(sql));
        if (value < last) backwards += 1;
        last = value;
        reads += 1;
        if (reads % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      return { reads, backwards };
    },
    async checkpoint() {
      return storage!.checkpoint();
    },
    async flush() {
      storage!.flush();
    },
    async lastError() {
      return storage!.lastError?.code;
    },
    async close() {
      connection!.close();
      await storage!.close();
    },
    async names() {
      return listStorages(medium);
    },
    async sizes(name) {
      return storageSizes(name, medium);
    },
    async remove(name) {
      await deleteStorage(name, medium);
    },
    async queryExport(name, sql) {
      return queryFile(await exportFile(name, medium), sql, await tools.loadSqlite());
    },
    async setFull(isFull) {
      tools.setFull(isFull);
    },
  };
}

async function queryFile(bytes: Uint8Array, sql: string, module: TestModule): Promise<ExportedFile> {
  const medium = memoryMedium();
  const file = await medium.open('copy.sqlite', true);
  file!.write(bytes, 0);
  const copy = await openStorage({ name: 'copy', medium, role: 'writer' });
  const copied = new TestConnection(module, copy);
  const rows = copied.run(sql);
  copied.close();
  await copy.close();
  return { magic: new TextDecoder().decode(bytes.subarray(0, 15)), sizeBytes: bytes.length, rows };
}

export function tabFailureOf(error: unknown): TabFailure {
  if (error instanceof StorageError) return { code: error.code, fields: error.fields };
  if (error instanceof TestSqliteError) return { code: 'sqlite', fields: {}, resultCode: error.resultCode };
  return { code: String(error), fields: {} };
}
