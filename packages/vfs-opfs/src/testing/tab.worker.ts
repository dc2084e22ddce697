import factory from 'wa-sqlite/dist/fts5/wa-sqlite.mjs';
import { StorageError, deleteStorage, listStorages, openStorage, opfsSharedMedium, storageSizes } from '../index.ts';
import type { Role, Storage } from '../index.ts';
import { TestConnection } from './test-connection.ts';
import type { TestModule, TestValue } from './test-connection.ts';

/** What the browser tests ask of a worker: one tab's share of the work. */
export interface TestCommands {
  open(name: string, role: Role, timeoutMs: number): Promise<void>;
  run(sql: string): Promise<TestValue[][]>;
  /** Reads again and again for a while; returns how often, and how many values were smaller than the one before. */
  watch(sql: string, durationMs: number): Promise<{ reads: number; backwards: number }>;
  checkpoint(): Promise<boolean>;
  flush(): Promise<void>;
  lastError(): Promise<string | undefined>;
  close(): Promise<void>;
  names(): Promise<readonly string[]>;
  databaseBytes(name: string): Promise<number | undefined>;
  remove(name: string): Promise<void>;
  openWithout(capability: 'modes' | 'opfs'): Promise<void>;
}

let module: TestModule | undefined;
let storage: Storage | undefined;
let connection: TestConnection | undefined;

const commands: TestCommands = {
  async open(name, role, timeoutMs) {
    module ??= (await factory()) as TestModule;
    storage = await openStorage({ name, medium: opfsSharedMedium(), role, timeoutMs });
    connection = new TestConnection(module, storage);
  },
  async run(sql) {
    return connection!.run(sql);
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
    return listStorages(opfsSharedMedium());
  },
  async databaseBytes(name) {
    return (await storageSizes(name, opfsSharedMedium()))?.databaseBytes;
  },
  async remove(name) {
    await deleteStorage(name, opfsSharedMedium());
  },
  async openWithout(capability) {
    // The worker is thrown away afterwards, so what is taken away here need not come back.
    if (capability === 'modes') Reflect.deleteProperty(FileSystemSyncAccessHandle.prototype, 'mode');
    else Object.defineProperty(navigator.storage, 'getDirectory', { value: () => Promise.reject(new DOMException('no', 'SecurityError')) });
    await openStorage({ name: 'unsupported', medium: opfsSharedMedium(), role: 'writer' });
  },
};

addEventListener('message', (event: MessageEvent<[number, keyof TestCommands, unknown[]]>) => {
  const [id, command, parameters] = event.data;
  const call = commands[command] as (...parameters: unknown[]) => Promise<unknown>;
  call(...parameters).then(
    (value) => postMessage([id, value]),
    (error: unknown) =>
      postMessage([id, undefined, error instanceof StorageError ? { code: error.code, fields: error.fields } : { code: String(error), fields: {} }]),
  );
});
