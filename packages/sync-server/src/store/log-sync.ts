import { closeSync, fdatasync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const syncDescriptor = promisify(fdatasync);

/**
 * Syncs the write-ahead log of an open SQLite file on Node's thread pool: the main thread does not wait for the disk,
 * and the logs of many databases sync at the same time. A second descriptor on the log is safe, because SQLite keeps
 * the same log file while the database is open and takes its locks on other files.
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

  /** Resolves once every earlier commit is durable. */
  async sync(): Promise<void> {
    this.underWay++;
    try {
      // If the last server closed cleanly, SQLite created the log at opening. Unless the directory is synced, a power
      // cut could lose the name of the log.
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
  // Windows has no such call, because its file systems make names durable themselves.
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
