import type { DatabaseStore, PieceComparer } from '../database-store.ts';
import { StorageError } from '../storage-error.ts';
import {
  ACCESS_READWRITE,
  FCNTL_BEGIN_ATOMIC_WRITE,
  FCNTL_COMMIT_ATOMIC_WRITE,
  FCNTL_COMMIT_PHASETWO,
  FCNTL_PRAGMA,
  FCNTL_ROLLBACK_ATOMIC_WRITE,
  IOCAP_BATCH_ATOMIC,
  IOCAP_SAFE_APPEND,
  IOCAP_SEQUENTIAL,
  IOCAP_UNDELETABLE_WHEN_OPEN,
  LOCK_NONE,
  LOCK_SHARED,
  OPEN_CREATE,
  OPEN_DELETEONCLOSE,
  OPEN_MAIN_DB,
  OPEN_READONLY,
  OPEN_READWRITE,
  SQLITE_CANTOPEN,
  SQLITE_ERROR,
  SQLITE_IOERR_SHORT_READ,
  SQLITE_NOTFOUND,
  SQLITE_OK,
} from './codes.ts';
import { MemoryFile } from './memory-file.ts';
import { pieceComparerOf } from './piece-comparer.ts';
import { rejectionOfPragma } from './pragmas.ts';
import { resultCodeOf, storageErrorOf } from './result-code.ts';
import type { SqliteModule } from './sqlite-module.ts';

/** A database as the VFS sees it: its store, and the callbacks for failures and for opening and closing. */
export interface VfsDatabase {
  readonly store: DatabaseStore;
  onError(error: StorageError): void;
  onOpen(): void;
  onClose(): void;
}

interface OpenDatabase {
  readonly database: VfsDatabase;
  readonly store: DatabaseStore;
  lock: number;
}

const CAPABILITIES = IOCAP_BATCH_ATOMIC | IOCAP_SAFE_APPEND | IOCAP_SEQUENTIAL | IOCAP_UNDELETABLE_WHEN_OPEN;
const SQLITE_PATH_BYTES = 512;
const JOURNAL: Uint8Array = new TextEncoder().encode('-journal');
const WAL: Uint8Array = new TextEncoder().encode('-wal');

/**
 * SQLite's file methods, for one wa-sqlite module and all databases that it opens.
 *
 * How SQLite commits here: its rollback journal stays in memory because the file promises atomic batches, so a commit
 * arrives as file-control 31, the page writes, 32, 21, xSync, 22. When its page cache overflows, SQLite writes pages
 * early, outside a batch, and its journal becomes a file (in memory, below). In both cases every page stays in the
 * store's open transaction. The store commits at 22 (COMMIT_PHASETWO), which is the last step of every commit and of
 * nothing else; giving up the write lock without it is a rollback. No guarantee therefore depends on which of the two
 * ways a transaction took.
 *
 * Methods receive numbers only and never throw. 64-bit offsets arrive as two halves.
 */
export class Vfs {
  readonly name = 'rockpool';
  readonly mxPathname: number = SQLITE_PATH_BYTES;

  readonly #module: SqliteModule;
  readonly #databases = new Map<string, VfsDatabase>();
  readonly #openDatabases = new Map<number, OpenDatabase>();
  readonly #memoryFiles = new Map<number, MemoryFile>();
  /** Memory files that were opened by name: journals. They stay until SQLite deletes them. */
  readonly #namedFiles = new Map<string, MemoryFile>();
  readonly #deleteOnClose = new Map<number, string>();
  #heapBytes: Uint8Array = new Uint8Array(0);
  #heapWords: Int32Array = new Int32Array(0);
  // The database that was used last. In most cases there is only one.
  #lastFile = 0;
  #lastOpen: OpenDatabase | undefined;
  /** Made for the first database that can be written. */
  #comparer: PieceComparer | undefined;

  constructor(module: SqliteModule) {
    this.#module = module;
  }

  attach(path: string, database: VfsDatabase): void {
    this.#databases.set(path, database);
  }

  detach(path: string): void {
    this.#databases.delete(path);
    this.#namedFiles.delete(`${path}-journal`);
  }

  /** The module asks this of every VFS; no method here is asynchronous. */
  hasAsyncMethod(): boolean {
    return false;
  }

  xOpen(_vfs: number, namePointer: number, file: number, flags: number, outFlags: number): number {
    if ((flags & OPEN_MAIN_DB) !== 0)
      return this.#openDatabase(this.#module.UTF8ToString(namePointer), file, flags, outFlags);
    const name = namePointer === 0 ? undefined : this.#module.UTF8ToString(namePointer);
    const known = name === undefined ? undefined : this.#namedFiles.get(name);
    if (known === undefined && name !== undefined && (flags & OPEN_CREATE) === 0) return SQLITE_CANTOPEN;
    const memoryFile = known ?? new MemoryFile();
    this.#memoryFiles.set(file, memoryFile);
    if (name !== undefined) {
      this.#namedFiles.set(name, memoryFile);
      if ((flags & OPEN_DELETEONCLOSE) !== 0) this.#deleteOnClose.set(file, name);
    }
    if (outFlags !== 0) this.#words()[outFlags >> 2] = flags;
    return SQLITE_OK;
  }

  xDelete(_vfs: number, namePointer: number): number {
    if (this.#namedFiles.size > 0) this.#namedFiles.delete(this.#module.UTF8ToString(namePointer));
    return SQLITE_OK;
  }

  xAccess(_vfs: number, namePointer: number, flags: number, out: number): number {
    // Called twice per read transaction (is there a journal? a WAL?), so the usual answer does not decode the name.
    const isAllowed =
      (this.#namedFiles.size > 0 || !this.#namesJournalOrWal(namePointer)) &&
      this.#exists(this.#module.UTF8ToString(namePointer), flags);
    this.#words()[out >> 2] = isAllowed ? 1 : 0;
    return SQLITE_OK;
  }

  /** As in SQLite's own VFS, an empty database file does not exist yet. */
  #exists(path: string, flags: number): boolean {
    const store = this.#databases.get(path)?.store;
    if (store === undefined) return this.#namedFiles.has(path);
    return store.sizeBytes() > 0 && (flags !== ACCESS_READWRITE || !store.isReadOnly);
  }

  /** No database path ends this way: opened-storage.ts appends `.sqlite`. */
  #namesJournalOrWal(namePointer: number): boolean {
    const heap = this.#bytes();
    const end = heap.indexOf(0, namePointer);
    return endsWith(heap, end, JOURNAL) || endsWith(heap, end, WAL);
  }

  xFullPathname(_vfs: number, namePointer: number, outSizeBytes: number, out: number): number {
    const heap = this.#bytes();
    const end = heap.indexOf(0, namePointer);
    if (end - namePointer >= outSizeBytes) return SQLITE_CANTOPEN;
    heap.copyWithin(out, namePointer, end + 1);
    return SQLITE_OK;
  }

  xClose(file: number): number {
    const open = this.#openDatabases.get(file);
    if (open !== undefined) {
      this.#openDatabases.delete(file);
      if (this.#lastFile === file) this.#lastFile = 0;
      if (open.lock !== LOCK_NONE) this.#run(open, endTransaction);
      open.database.onClose();
      return SQLITE_OK;
    }
    this.#memoryFiles.delete(file);
    const name = this.#deleteOnClose.get(file);
    if (name !== undefined) {
      this.#deleteOnClose.delete(file);
      this.#namedFiles.delete(name);
    }
    return SQLITE_OK;
  }

  xRead(file: number, target: number, length: number, low: number, high: number): number {
    const at = (low >>> 0) + high * 0x1_0000_0000;
    const heap = this.#bytes();
    let count: number;
    const open = this.#find(file);
    if (open === undefined) {
      count = this.#memoryFiles.get(file)!.read(heap, target, length, at);
    } else {
      try {
        count = open.store.read(heap, target, length, at);
      } catch (error) {
        return report(open, error);
      }
    }
    if (count === length) return SQLITE_OK;
    heap.fill(0, target + count, target + length);
    return SQLITE_IOERR_SHORT_READ;
  }

  xWrite(file: number, source: number, length: number, low: number, high: number): number {
    const at = (low >>> 0) + high * 0x1_0000_0000;
    const open = this.#find(file);
    if (open === undefined) {
      this.#memoryFiles.get(file)!.write(this.#bytes(), source, length, at);
      return SQLITE_OK;
    }
    try {
      open.store.write(this.#bytes(), source, length, at, this.#comparer);
      return SQLITE_OK;
    } catch (error) {
      return report(open, error);
    }
  }

  xTruncate(file: number, low: number, high: number): number {
    const sizeBytes = (low >>> 0) + high * 0x1_0000_0000;
    const open = this.#find(file);
    if (open !== undefined) return this.#run(open, (store) => store.truncate(sizeBytes));
    this.#memoryFiles.get(file)!.truncate(sizeBytes);
    return SQLITE_OK;
  }

  /** The commit decides durability, not xSync: see the class comment. */
  xSync(): number {
    return SQLITE_OK;
  }

  xFileSize(file: number, out: number): number {
    const open = this.#find(file);
    const sizeBytes = open === undefined ? this.#memoryFiles.get(file)!.sizeBytes : open.store.sizeBytes();
    const words = this.#words();
    words[out >> 2] = sizeBytes | 0;
    words[(out >> 2) + 1] = Math.floor(sizeBytes / 0x1_0000_0000);
    return SQLITE_OK;
  }

  xLock(file: number, lock: number): number {
    const open = this.#find(file);
    if (open === undefined) return SQLITE_OK;
    if (open.lock === LOCK_NONE) {
      try {
        open.store.beginRead();
      } catch (error) {
        return report(open, error);
      }
    }
    open.lock = lock;
    return SQLITE_OK;
  }

  xUnlock(file: number, lock: number): number {
    const open = this.#find(file);
    if (open === undefined || open.lock <= lock) return SQLITE_OK;
    const had = open.lock;
    open.lock = lock;
    try {
      if (had > LOCK_SHARED) open.store.rollback();
      if (lock === LOCK_NONE) open.store.endRead();
      return SQLITE_OK;
    } catch (error) {
      return report(open, error);
    }
  }

  /** This storage serves one connection, so no other connection can hold the lock. */
  xCheckReservedLock(_file: number, out: number): number {
    this.#words()[out >> 2] = 0;
    return SQLITE_OK;
  }

  xFileControl(file: number, operation: number, argument: number): number {
    switch (operation) {
      case FCNTL_COMMIT_PHASETWO: {
        const open = this.#find(file);
        return open === undefined ? SQLITE_NOTFOUND : this.#run(open, commit);
      }
      case FCNTL_BEGIN_ATOMIC_WRITE:
      case FCNTL_COMMIT_ATOMIC_WRITE:
      case FCNTL_ROLLBACK_ATOMIC_WRITE:
        return SQLITE_OK;
      case FCNTL_PRAGMA:
        return this.#pragma(argument);
      default:
        return SQLITE_NOTFOUND;
    }
  }

  /** SQLite uses this as the page size of a new database. */
  xSectorSize(file: number): number {
    return this.#find(file)?.store.pageSizeBytes ?? 4096;
  }

  xDeviceCharacteristics(file: number): number {
    return this.#find(file) === undefined ? 0 : CAPABILITIES;
  }

  // A module object has hundreds of properties, so lookups are slow. A view that was detached by memory growth is
  // empty.
  #bytes(): Uint8Array {
    if (this.#heapBytes.length === 0) this.#heapBytes = this.#module.HEAPU8;
    return this.#heapBytes;
  }

  #words(): Int32Array {
    if (this.#heapWords.length === 0) this.#heapWords = this.#module.HEAP32;
    return this.#heapWords;
  }

  #find(file: number): OpenDatabase | undefined {
    if (file === this.#lastFile) return this.#lastOpen;
    const open = this.#openDatabases.get(file);
    if (open !== undefined) {
      this.#lastFile = file;
      this.#lastOpen = open;
    }
    return open;
  }

  #run(open: OpenDatabase, work: (store: DatabaseStore) => void): number {
    try {
      work(open.store);
      return SQLITE_OK;
    } catch (error) {
      return report(open, error);
    }
  }

  #openDatabase(path: string, file: number, flags: number, outFlags: number): number {
    const database = this.#databases.get(path);
    if (database === undefined) return SQLITE_CANTOPEN;
    for (const open of this.#openDatabases.values()) {
      if (open.database !== database) continue;
      return report(open, new StorageError('storage-busy', { reason: 'a storage serves one connection at a time' }));
    }
    if (!database.store.isReadOnly) this.#comparer ??= pieceComparerOf(this.#module);
    this.#openDatabases.set(file, { database, store: database.store, lock: LOCK_NONE });
    database.onOpen();
    if (outFlags !== 0) {
      const access = database.store.isReadOnly ? (flags & ~OPEN_READWRITE) | OPEN_READONLY : flags;
      this.#words()[outFlags >> 2] = access;
    }
    return SQLITE_OK;
  }

  #pragma(argument: number): number {
    const words = this.#words();
    const name = this.#module.UTF8ToString(words[(argument >> 2) + 1]!);
    const valuePointer = words[(argument >> 2) + 2]!;
    const refusal = rejectionOfPragma(name, valuePointer === 0 ? undefined : this.#module.UTF8ToString(valuePointer));
    if (refusal === undefined) return SQLITE_NOTFOUND;
    const sizeBytes = this.#module.lengthBytesUTF8(refusal) + 1;
    const pointer = this.#module._sqlite3_malloc(sizeBytes);
    if (pointer !== 0) this.#module.stringToUTF8(refusal, pointer, sizeBytes);
    this.#words()[argument >> 2] = pointer;
    return SQLITE_ERROR;
  }
}

function endsWith(heap: Uint8Array, end: number, suffix: Uint8Array): boolean {
  for (let i = 1; i <= suffix.length; i++) if (heap[end - i] !== suffix[suffix.length - i]) return false;
  return true;
}

function commit(store: DatabaseStore): void {
  store.commit();
}

function endTransaction(store: DatabaseStore): void {
  store.rollback();
  store.endRead();
}

/** Stores the typed error for the caller and returns SQLite's nearest result code. */
function report(open: OpenDatabase, error: unknown): number {
  const known = storageErrorOf(error);
  open.database.onError(known);
  return resultCodeOf(known);
}
