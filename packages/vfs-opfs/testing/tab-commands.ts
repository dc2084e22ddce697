import {
  StorageError,
  assertRoomForVacuum,
  deleteStorage,
  exportFile,
  importFile,
  listStorages,
  memoryMedium,
  openStorage,
  quarantineStorage,
  storageSizes,
} from '../src/index.ts';
import type { Durability, Medium, Role, Storage, StorageSizes, Tuning } from '../src/index.ts';
import { exportedBytes } from './exported-bytes.ts';
import { TestConnection, TestSqliteError } from './test-connection.ts';
import type { TestModule, TestStatement, TestValue } from './test-connection.ts';

/**
 * The limit for opening a database that another worker may still hold, because it is ending: only a hang takes this
 * long. In Chromium, a terminated worker keeps its lock for about two seconds, and longer on a busy machine.
 */
export const PATIENT_MS: number = 3 * 60_000;

/** Options of a test besides name and role. */
export interface TabOpenOptions {
  readonly durability?: Durability;
  readonly pageSizeBytes?: number;
  readonly tuning?: Partial<Tuning>;
}

/** An exported file: its first bytes as text, its size, and the result of a query on it. */
export interface ExportedFile {
  readonly magic: string;
  readonly sizeBytes: number;
  readonly rows: TestValue[][];
}

export interface ImportCopyOptions {
  readonly change?: 'none' | 'not-sqlite' | 'cut-off' | 'half-a-page' | 'wal-mode' | 'damaged-page';
  /** Sends a stream of small chunks instead of a blob. */
  readonly asStream?: boolean;
  /** SQL that runs on the imported database before it replaces anything. Any result but `ok` rejects the import. */
  readonly checkSql?: string;
  readonly timeoutMs?: number;
}

/** The commands of one tab. */
export interface TabCommands {
  open(name: string, role: Role, timeoutMs: number, options?: TabOpenOptions): Promise<void>;
  /** Runs SQL and waits until the medium has stored all commits. */
  run(sql: string): Promise<TestValue[][]>;
  /** Reads repeatedly until `endWatch`. Returns how many values were smaller than the one before. */
  watch(sql: string): Promise<number>;
  /** How often `watch` has read. */
  readCount(): Promise<number>;
  endWatch(): Promise<void>;
  /**
   * Reads the first row and leaves the read transaction open; `endScan` reads the rest and returns the number of rows.
   */
  beginScan(sql: string): Promise<void>;
  endScan(): Promise<number>;
  checkpoint(waitMs?: number): Promise<boolean>;
  flush(): Promise<void>;
  lastError(): Promise<string | undefined>;
  close(): Promise<void>;
  names(): Promise<readonly string[]>;
  sizes(name: string): Promise<StorageSizes | undefined>;
  remove(name: string): Promise<void>;
  /** Exports a database, opens the bytes in memory, and runs a query there. */
  queryExport(name: string, sql: string): Promise<ExportedFile>;
  /** Like `queryExport`, for the database that this tab has open. */
  queryOwnExport(sql: string): Promise<ExportedFile>;
  /** Opens a reader in this tab on the files that its writer has open. */
  openBeside(): Promise<void>;
  runBeside(sql: string): Promise<TestValue[][]>;
  /** Reads the first row with the reader; `endScan` reads the rest. */
  beginScanBeside(sql: string): Promise<void>;
  closeBeside(): Promise<void>;
  /** Exports a database and imports the bytes, optionally changed, under a different name. */
  importCopy(from: string, to: string, options?: ImportCopyOptions): Promise<void>;
  /** Writes noise into a closed database, bypassing SQLite. */
  damage(name: string, at: number): Promise<void>;
  quarantine(name: string): Promise<string>;
  assertRoomForVacuum(name: string): Promise<void>;
  /** Makes the medium report this much free space from now on. */
  setFreeBytes(freeBytes: number): Promise<void>;
  /** From now on, until called with false, writes of this tab's storage find no room. */
  setFull(isFull: boolean): Promise<void>;
}

/** A failure of a tab: the code of a storage, or SQLite's result code. */
export interface TabFailure {
  readonly code: string;
  readonly fields: StorageError['fields'];
  readonly resultCode?: number;
}

export interface TabTools {
  readonly medium: Medium;
  loadSqlite(): Promise<TestModule>;
  /** Makes the medium reject writes, as a full disk does. */
  setFull(isFull: boolean): void;
  setFreeBytes(freeBytes: number): void;
}

/** One tab on a medium, with at most one storage and one connection at a time. */
export function createTab(tools: TabTools): TabCommands {
  const { medium } = tools;
  let storage: Storage | undefined;
  let connection: TestConnection | undefined;
  let scan: TestStatement | undefined;
  let isWatching = false;
  let readCount = 0;
  let beside: { readonly storage: Storage; readonly connection: TestConnection } | undefined;
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
    async watch(sql) {
      let last = -1;
      let backwards = 0;
      isWatching = true;
      while (isWatching) {
        const value = Number(connection!.value(sql));
        if (value < last) backwards += 1;
        last = value;
        readCount += 1;
        if (readCount % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      }
      return backwards;
    },
    async readCount() {
      return readCount;
    },
    async endWatch() {
      isWatching = false;
    },
    async beginScan(sql) {
      scan = connection!.prepare(sql);
      scan.step();
    },
    async endScan() {
      let rows = 1;
      try {
        while (scan!.step() !== undefined) rows += 1;
      } finally {
        scan!.finalize();
      }
      return rows;
    },
    async openBeside() {
      const reader = await storage!.openReader();
      beside = { storage: reader, connection: new TestConnection(await tools.loadSqlite(), reader) };
    },
    async runBeside(sql) {
      return beside!.connection.run(sql);
    },
    async beginScanBeside(sql) {
      scan = beside!.connection.prepare(sql);
      scan.step();
    },
    async closeBeside() {
      beside!.connection.close();
      await beside!.storage.close();
    },
    async checkpoint(waitMs) {
      return storage!.checkpoint(waitMs);
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
      return queryFile(await exportedBytes(await exportFile(name, medium)), sql, await tools.loadSqlite());
    },
    async queryOwnExport(sql) {
      return queryFile(await exportedBytes(await storage!.exportFile()), sql, await tools.loadSqlite());
    },
    async importCopy(from, to, options = {}) {
      await importCopy(
        await exportedBytes(await exportFile(from, medium)),
        to,
        medium,
        await tools.loadSqlite(),
        options,
      );
    },
    async damage(name, at) {
      await writeNoise(name, medium, at);
    },
    async quarantine(name) {
      return quarantineStorage(name, medium);
    },
    async assertRoomForVacuum(name) {
      await assertRoomForVacuum(name, medium);
    },
    async setFreeBytes(freeBytes) {
      tools.setFreeBytes(freeBytes);
    },
    async setFull(isFull) {
      tools.setFull(isFull);
    },
  };
}

const NOISE = new Uint8Array(64).fill(0xa5);
/** Neither a divisor nor a multiple of any length in the file, so that chunks end anywhere. */
const CHUNK_BYTES = 7001;

async function importCopy(
  bytes: Uint8Array<ArrayBuffer>,
  name: string,
  medium: Medium,
  module: TestModule,
  options: ImportCopyOptions,
): Promise<void> {
  const { checkSql, timeoutMs } = options;
  const blob = new Blob([changed(bytes, options.change ?? 'none')]);
  await importFile({
    name,
    medium,
    source: options.asStream === true ? inChunks(blob) : blob,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    check(storage) {
      const connection = new TestConnection(module, storage);
      try {
        const result = connection.value(checkSql ?? 'PRAGMA quick_check');
        if (result !== 'ok')
          throw new StorageError('storage-corrupt', { what: 'the check of the test rejected the file' });
      } finally {
        connection.close();
      }
    },
  });
}

function changed(
  bytes: Uint8Array<ArrayBuffer>,
  change: NonNullable<ImportCopyOptions['change']>,
): Uint8Array<ArrayBuffer> {
  switch (change) {
    case 'none':
      return bytes;
    case 'not-sqlite':
      return new Uint8Array(bytes.length).fill(0x20);
    case 'cut-off':
      return bytes.subarray(0, bytes.length >> 1);
    case 'half-a-page':
      return new Uint8Array([...bytes, 0]);
    case 'wal-mode':
      return bytes.map((byte, index) => (index === 18 || index === 19 ? 2 : byte));
    case 'damaged-page':
      bytes.set(NOISE, bytes.length - 8192);
      return bytes;
  }
}

function inChunks(blob: Blob): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      const chunk = await blob.slice(at, at + CHUNK_BYTES).arrayBuffer();
      at += CHUNK_BYTES;
      if (chunk.byteLength === 0) controller.close();
      else controller.enqueue(new Uint8Array(chunk));
    },
  });
}

async function writeNoise(name: string, medium: Medium, at: number): Promise<void> {
  if ('openWriter' in medium) {
    const { store, committed, close } = await medium.openWriter({
      name,
      pageSizeBytes: 8192,
      timeoutMs: 3000,
      isStrict: true,
      onError: () => undefined,
      onUndone: () => undefined,
    });
    store.write(NOISE, 0, NOISE.length, at);
    store.commit();
    await committed();
    await close();
    return;
  }
  const file = await medium.open(`${name}.sqlite`, false);
  file!.write(NOISE, at);
  file!.close();
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
