import type { Schema } from '#shared/index.ts';
import type { Bus } from '#sync-server/bus/bus.ts';
import type { DatabaseFile } from '#sync-server/store/database-file.ts';
import { SqliteStore } from '#sync-server/store/sqlite-store.ts';
import type { Store } from '#sync-server/store/store.ts';
import type { ServerDisk, EndOfServer } from './server-disk.ts';

/** Where the server's processes store databases, and what outlasts the processes. */
export interface ServerStorage {
  /** How many processes serve one store. */
  readonly instances: number;
  readonly hasBackup: boolean;
  /** A path where `snapshot` may write a file. */
  readonly snapshotPath: string;
  /** The store of a process that starts. */
  openStore(instance: number, process: StoreProcess): OpenedStore;
  /** The number of frames in the log of the file; 0 if the storage has none. */
  readonly frames: number;
  /** The process is gone. */
  end(instance: number, how: EndOfServer): void;
  /** The last committed state; null while it is unknown because no process has the database open. */
  committed(opened: DatabaseFile | null): DatabaseFile | null;
  backUp(): void;
  /** Restores the backup while all processes are down. */
  restore(): void;
  remove(): void;
}

export interface OpenedStore {
  readonly store: Store;
  /** Connects the instances; null if there is only one. */
  readonly bus: Bus | null;
}

/** The part of the process that the storage uses. */
export interface StoreProcess {
  /** Runs code as code of this process. Does nothing if the process is dead. */
  run(body: () => void): void;
  /** A COMMIT is in transit to PostgreSQL, or its response has arrived. */
  onCommit(when: 'sent' | 'answered'): void;
  /** The store failed outside of a call. */
  onError(error: unknown): void;
}

/** One process, and a file on its disk. */
export class FileStorage implements ServerStorage {
  readonly instances = 1;
  private readonly disk: ServerDisk;
  private readonly schema: Schema;

  constructor(disk: ServerDisk, schema: Schema) {
    this.disk = disk;
    this.schema = schema;
  }

  get hasBackup(): boolean {
    return this.disk.hasBackup;
  }

  get snapshotPath(): string {
    return this.disk.snapshotPath;
  }

  get frames(): number {
    return this.disk.frames;
  }

  openStore(): OpenedStore {
    const { dataDir, openLogSync } = this.disk;
    return { store: new SqliteStore(dataDir, this.schema, { openLogSync }), bus: null };
  }

  end(_: number, how: EndOfServer): void {
    this.disk.end(how);
  }

  committed(opened: DatabaseFile | null): DatabaseFile | null {
    return opened;
  }

  backUp(): void {
    this.disk.backUp();
  }

  restore(): void {
    this.disk.restore();
  }

  remove(): void {
    this.disk.remove();
  }
}
