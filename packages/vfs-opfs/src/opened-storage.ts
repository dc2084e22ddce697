import { snapshotSource, streamOf } from './files/byte-source.ts';
import { LastFailure } from './last-failure.ts';
import type { OpenedStore } from './opened-store.ts';
import { vfsOf, VFS_NAME } from './sqlite/register-vfs.ts';
import type { SqliteModule } from './sqlite/sqlite-module.ts';
import type { Vfs } from './sqlite/vfs.ts';
import { StorageError } from './storage-error.ts';
import type { Storage } from './storage.ts';

let openedCount = 0;

/** Wraps an opened store as the storage that the caller gets. */
export function createStorage(
  opened: OpenedStore,
  identity: Pick<Storage, 'name' | 'role' | 'persistence'>,
  failure: LastFailure,
): Storage {
  openedCount += 1;
  return new OpenedStorage(opened, identity, `/${openedCount}/${identity.name}.sqlite`, failure);
}

class OpenedStorage implements Storage {
  readonly name: string;
  readonly role: Storage['role'];
  readonly persistence: Storage['persistence'];
  readonly path: string;
  readonly vfsName: string = VFS_NAME;
  readonly #opened: OpenedStore;
  readonly #failure: LastFailure;
  #vfs: Vfs | undefined;
  #hasConnection = false;
  #isClosed = false;

  constructor(
    opened: OpenedStore,
    identity: Pick<Storage, 'name' | 'role' | 'persistence'>,
    path: string,
    failure: LastFailure,
  ) {
    this.name = identity.name;
    this.role = identity.role;
    this.persistence = identity.persistence;
    this.path = path;
    this.#opened = opened;
    this.#failure = failure;
  }

  get lastError(): StorageError | undefined {
    return this.#failure.error;
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
      onError: this.#failure.note,
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
      this.#failure.note(error);
      throw error;
    }
  }

  async committed(): Promise<void> {
    this.#assertOpen();
    return this.#opened.committed();
  }

  async openReader(): Promise<Storage> {
    this.#assertOpen();
    const failure = new LastFailure();
    return createStorage(
      await this.#opened.openReader(failure.note),
      { name: this.name, role: 'reader', persistence: this.persistence },
      failure,
    );
  }

  async exportFile(): Promise<ReadableStream<Uint8Array>> {
    this.#assertOpen();
    return streamOf(await snapshotSource(await this.#opened.openReader(this.#failure.note)));
  }

  async checkpoint(waitMs = 1000): Promise<boolean> {
    this.#assertOpen();
    try {
      return await this.#opened.checkpoint(waitMs);
    } catch (error) {
      this.#failure.note(error);
      throw error;
    }
  }

  async close({ leavesLog = false }: { readonly leavesLog?: boolean } = {}): Promise<void> {
    if (this.#isClosed) return;
    if (this.#hasConnection) throw new StorageError('storage-busy', { reason: 'the SQLite connection is still open' });
    this.#isClosed = true;
    this.#vfs?.detach(this.path);
    await this.#opened.close(leavesLog);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StorageError('storage-closed', { name: this.name });
  }
}
