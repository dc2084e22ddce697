import { openReader } from './open-reader.ts';
import { openWriter } from './open-writer.ts';
import type { OpenedRole } from './opened-role.ts';
import { vfsOf, VFS_NAME } from './sqlite/register-vfs.ts';
import type { SqliteModule } from './sqlite/sqlite-module.ts';
import type { Vfs } from './sqlite/vfs.ts';
import { StorageError, errorFromMedium } from './storage-error.ts';
import { checkStorageName } from './storage-name.ts';
import type { OpenStorageOptions, Storage } from './storage.ts';
import { DEFAULT_TUNING } from './tuning.ts';

const DEFAULT_TIMEOUT_MS = 3000;
const DEFAULT_PAGE_SIZE_BYTES = 8192;

let openedCount = 0;

/**
 * Opens a database for one SQLite connection, as its one writer or as a reader beside the writer.
 *
 * Throws a `StorageError`: `storage-unsupported` (with what is missing; also a reader on a
 * medium for one opener), `storage-busy` (another writer), `storage-missing` (a reader
 * found no database within `timeoutMs`), `storage-corrupt` (the file is not SQLite's; it is left as it is), `storage-full`.
 */
export async function openStorage(options: OpenStorageOptions): Promise<Storage> {
  const { name, medium, role } = options;
  checkStorageName(name);
  const pageSizeBytes = options.pageSizeBytes ?? DEFAULT_PAGE_SIZE_BYTES;
  if (pageSizeBytes < 512 || pageSizeBytes > 8192 || (pageSizeBytes & (pageSizeBytes - 1)) !== 0) {
    throw new RangeError('pageSizeBytes must be a power of two from 512 to 8192');
  }
  const missing = await medium.missing();
  if (missing.length > 0) throw new StorageError('storage-unsupported', { medium: medium.kind, missing });
  if (role === 'reader' && !medium.allowsReaders) throw noReaders(medium.kind);
  const tuning = { ...DEFAULT_TUNING, ...options.tuning };
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const failures: { last: StorageError | undefined } = { last: undefined };
  const onError = (error: unknown): void => {
    failures.last = errorFromMedium(error, 'background');
  };
  const isStrict = options.durability === 'strict';
  const onUndone = options.onUndone ?? ((): void => undefined);
  const opened = await openRole();
  openedCount += 1;
  return new OpenStorage(options, opened, `/${openedCount}/${name}.sqlite`, failures, onError);

  function openRole(): Promise<OpenedRole> {
    if ('openWriter' in medium) return medium.openWriter({ name, pageSizeBytes, timeoutMs, isStrict, onError, onUndone });
    return role === 'writer'
      ? openWriter({ name, medium, pageSizeBytes, timeoutMs, tuning, isStrict, onError })
      : openReader({ name, medium, timeoutMs, tuning, onError });
  }
}

function noReaders(kind: string): StorageError {
  return new StorageError('storage-unsupported', { medium: kind, missing: ['readers beside the writer: followers go through the leader'] });
}

class OpenStorage implements Storage {
  readonly name: string;
  readonly role: Storage['role'];
  readonly persistence: Storage['persistence'];
  readonly path: string;
  readonly vfsName: string = VFS_NAME;
  readonly #opened: OpenedRole;
  readonly #failures: { last: StorageError | undefined };
  readonly #onError: (error: unknown) => void;
  #vfs: Vfs | undefined;
  #hasConnection = false;
  #isClosed = false;

  constructor(
    options: OpenStorageOptions,
    opened: OpenedRole,
    path: string,
    failures: { last: StorageError | undefined },
    onError: (error: unknown) => void,
  ) {
    this.name = options.name;
    this.role = options.role;
    this.persistence = options.medium.persistence;
    this.path = path;
    this.#opened = opened;
    this.#failures = failures;
    this.#onError = onError;
  }

  get lastError(): StorageError | undefined {
    return this.#failures.last;
  }

  get dirtySinceMs(): number | undefined {
    return this.#opened.dirtySinceMs();
  }

  register(module: SqliteModule): void {
    this.#assertOpen();
    if (this.#vfs !== undefined) return;
    this.#vfs = vfsOf(module);
    this.#vfs.attach(this.path, {
      store: this.#opened.store,
      onError: this.#onError,
      onOpen: () => {
        this.#hasConnection = true;
      },
      onClose: () => {
        this.#hasConnection = false;
      },
    });
  }

  flush(): void {
    this.#assertOpen();
    try {
      this.#opened.flush();
    } catch (error) {
      this.#onError(error);
      throw error;
    }
  }

  async committed(): Promise<void> {
    this.#assertOpen();
    return this.#opened.committed();
  }

  async checkpoint(waitMs = 1000): Promise<boolean> {
    this.#assertOpen();
    try {
      return await this.#opened.checkpoint(waitMs);
    } catch (error) {
      this.#onError(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#hasConnection) throw new StorageError('storage-busy', { reason: 'the SQLite connection is still open' });
    this.#isClosed = true;
    this.#vfs?.detach(this.path);
    await this.#opened.close();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StorageError('storage-closed', { name: this.name });
  }
}
