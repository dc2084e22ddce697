import { openStorage, opfsExclusiveMedium, opfsSharedMedium } from '../src/index.ts';
import { indexedDbMedium } from '../src/media/indexeddb.ts';
import type { Medium } from '../src/index.ts';
import { loadBrowserSqlite } from './browser-sqlite.ts';
import { NEGATIVE_COUNT } from './disk-call.ts';
import { detectCapabilities } from './detect-capabilities.ts';
import type { Capabilities } from './detect-capabilities.ts';
import { createTab, PATIENT_MS, tabFailureOf } from './tab-commands.ts';
import type { TabCommands } from './tab-commands.ts';

/** The media of a browser, by name. */
export type TestMedium = 'opfs-shared' | 'opfs-exclusive' | 'opfs-exclusive-patient' | 'indexeddb' | 'indexeddb-2MB';

export interface WorkerCommands extends TabCommands {
  openWithout(capability: 'modes' | 'opfs' | 'permission'): Promise<void>;
  capabilities(): Promise<Capabilities>;
  /** How often this worker requested a handle that another worker held. */
  refusedHandles(): Promise<number>;
}

const MEDIA: Readonly<Record<TestMedium, () => Medium>> = {
  'opfs-shared': opfsSharedMedium,
  'opfs-exclusive': opfsExclusiveMedium,
  'opfs-exclusive-patient': () => opfsExclusiveMedium({ openWithinMs: PATIENT_MS }),
  indexeddb: indexedDbMedium,
  'indexeddb-2MB': () => indexedDbMedium({ memoryBudgetBytes: 2 * 1024 * 1024 }),
};

function createCommands(kind: TestMedium): WorkerCommands {
  const medium = MEDIA[kind]();
  const commands = createTab({
    medium,
    loadSqlite: loadBrowserSqlite,
    setFull,
    setFreeBytes: (freeBytes) => {
      // Some WebKit browsers have no `navigator.storage`.
      const storage: object = navigator.storage ?? {};
      Object.defineProperty(storage, 'estimate', {
        value: async () => ({ quota: freeBytes, usage: 0 }),
        configurable: true,
      });
      Object.defineProperty(navigator, 'storage', { value: storage, configurable: true });
    },
  });
  return {
    ...commands,
    async openWithout(capability) {
      // The worker is discarded afterwards, so removed capabilities need not be restored.
      if (capability === 'modes') Reflect.deleteProperty(FileSystemSyncAccessHandle.prototype, 'mode');
      else if (capability === 'opfs') Object.defineProperty(navigator.storage, 'getDirectory', { value: undefined });
      else
        Object.defineProperty(navigator.storage, 'getDirectory', {
          value: () => Promise.reject(new DOMException('no', 'SecurityError')),
        });
      await openStorage({ name: 'unsupported', medium, role: 'writer' });
    },
    capabilities: detectCapabilities,
    refusedHandles: async () => refusedHandles,
  };
}

let refusedHandles = 0;

/**
 * Counts the handles that are refused because another worker holds them, so that tests can wait for what a medium waits
 * for.
 */
function countRefusedHandles(prototype: FileSystemFileHandle): void {
  const { createSyncAccessHandle } = prototype;
  prototype.createSyncAccessHandle = async function (...options) {
    try {
      return await createSyncAccessHandle.apply(this, options);
    } catch (error) {
      if (error instanceof DOMException && error.name === 'NoModificationAllowedError') refusedHandles += 1;
      throw error;
    }
  };
}

const commitTransaction = IDBTransaction.prototype.commit;
/** Not every browser has access handles. */
const handlePrototype =
  typeof FileSystemSyncAccessHandle === 'undefined' ? undefined : FileSystemSyncAccessHandle.prototype;
const writeToHandle = handlePrototype?.write;

/**
 * A disk cannot be filled on demand. This imitates Chromium's behaviour on a full one: a wrong count, and an IndexedDB
 * transaction that aborts after its puts.
 */
function setFull(isFull: boolean): void {
  if (handlePrototype !== undefined) handlePrototype.write = isFull ? () => NEGATIVE_COUNT : writeToHandle!;
  IDBTransaction.prototype.commit = isFull ? abortForQuota : commitTransaction;
}

function abortForQuota(this: IDBTransaction): void {
  Object.defineProperty(this, 'error', { value: new DOMException('', 'QuotaExceededError') });
  this.abort();
}

if (handlePrototype !== undefined) countRefusedHandles(FileSystemFileHandle.prototype);

let created: WorkerCommands | undefined;

addEventListener('message', (event: MessageEvent<[number, TestMedium, keyof WorkerCommands, unknown[]]>) => {
  const [id, kind, command, parameters] = event.data;
  created ??= createCommands(kind);
  const call = created[command] as (...parameters: unknown[]) => Promise<unknown>;
  call(...parameters).then(
    (value) => postMessage([id, value]),
    (error: unknown) => postMessage([id, undefined, tabFailureOf(error)]),
  );
});
