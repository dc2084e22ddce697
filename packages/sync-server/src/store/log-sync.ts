import { closeSync, fdatasync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const syncDescriptor = promisify(fdatasync);

/**
 * Syncs the write-ahead log of an open SQLite file, on threads of Node's pool: the one that serves everybody does not
 * wait for the disk, and the logs of many databases are synced at the same time. SQLite keeps the same log for as long
 * as it has the file open, and its locks are on other files, so that a descriptor beside its own changes nothing for
 * it.
 */
export class LogSync {
  private readonly descriptor: number;
  private readonly directory: string;
  private underWay = 0;
  private isClosed = false;
  private directorySync: Promise<void> | null = null;

  constructor(databasePath: string) {
    this.directory = dirname(databasePath);
    this.descriptor = openSync(`${databasePath}-wal`, 'r+');
  }

  /** Resolves once everything that was committed before lasts. */
  async sync(): Promise<void> {
    this.underWay++;
    try {
      // SQLite has made the log at opening, if the last server closed well: after a power cut it would not be found.
      this.directorySync ??= syncDirectory(this.directory);
      await Promise.all([syncDescriptor(this.descriptor), this.directorySync]);
    } finally {
      this.underWay--;
      this.closeUnused();
    }
  }

  close(): void {
    this.isClosed = true;
    this.closeUnused();
  }

  private closeUnused(): void {
    if (this.isClosed && this.underWay === 0) closeSync(this.descriptor);
  }
}

async function syncDirectory(path: string): Promise<void> {
  // Windows has no such call: there the file system takes care of names.
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
