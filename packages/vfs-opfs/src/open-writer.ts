import { finishImport } from './files/finish-import.ts';
import { holdWriterLock } from './locks/storage-locks.ts';
import type { Generation } from './log/generation.ts';
import { LogMaintenance } from './log/log-maintenance.ts';
import { LogWriter } from './log/log-writer.ts';
import { readLog } from './log/recovery.ts';
import type { RecoveredLog } from './log/recovery.ts';
import type { FileMedium } from './media/medium.ts';
import { openFiles } from './open-files.ts';
import type { OpenFiles } from './open-files.ts';
import { openReader } from './open-reader.ts';
import type { OpenedStore } from './opened-store.ts';
import { PageView } from './pages/page-view.ts';
import { SQLITE_HEADER_BYTES, checkSqliteHeader } from './sqlite-file-header.ts';
import { StorageError, errorFromMedium } from './storage-error.ts';
import type { Tuning } from './tuning.ts';
import { WriterStore } from './writer-store.ts';

/**
 * Closing moves a log up to this size into the database file. A longer log stays for the next opening, which reads all
 * of it at about 2 ms per megabyte. A handover never moves the log.
 */
const MAX_LOG_COPIED_ON_CLOSE_BYTES = 64 * 1024 * 1024;

export interface OpenWriterOptions {
  readonly name: string;
  readonly medium: FileMedium;
  readonly pageSizeBytes: number;
  readonly timeoutMs: number;
  readonly tuning: Tuning;
  readonly isStrict: boolean;
  readonly onError: (error: unknown) => void;
}

/** Takes the writer's lock, recovers the log, and continues where it ends. */
export async function openWriter(options: OpenWriterOptions): Promise<OpenedStore> {
  const release = await holdWriterLock(options.medium.locks, options.name, options.timeoutMs);
  try {
    return await openAsLockHolder(options, release);
  } catch (error) {
    release();
    throw error;
  }
}

/** Like `openWriter`, for a caller that holds the writer's lock. Calls `release` on closing. */
export async function openAsLockHolder(options: OpenWriterOptions, release: () => void): Promise<OpenedStore> {
  const { name, medium } = options;
  let files: OpenFiles | undefined;
  try {
    files = await openFiles(medium, name, true);
    if (files === undefined)
      throw new StorageError('storage-failed', {
        operation: 'open',
        reason: 'the files of the database were not created',
      });
    await finishImport(name, medium, files);
    return startWriting(options, files, release);
  } catch (error) {
    files?.close();
    throw errorFromMedium(error, 'open');
  }
}

function startWriting(options: OpenWriterOptions, files: OpenFiles, release: () => void): OpenedStore {
  const { name, medium, tuning, timeoutMs, onError } = options;
  const recovered = readLog(files.segments);
  if (recovered?.active === undefined) checkFile(files);
  const pageSizeBytes = recovered?.active === undefined ? tuning.logPageBytes : recovered.pageSizeBytes;
  const log = new LogWriter(files.segments, pageSizeBytes, tuning.segmentGrowthBytes);
  const active = recovered?.active ?? beginFirstGeneration(log, files, recovered);
  const view = new PageView(files, pageSizeBytes, tuning.poolSizeBytes, active, recovered?.sealed);
  const newPageSizeBytes = checkDatabase(view) ?? options.pageSizeBytes;
  if (recovered?.active !== undefined) repairTail(log, recovered, active);
  const maintenance = new LogMaintenance({
    storageName: name,
    locks: medium.locks,
    signals: medium.signals,
    view,
    log,
    tuning,
    onError,
  });
  maintenance.onRecovered();
  const store = new WriterStore(view, log, tuning.recordSizeBytes, newPageSizeBytes, options.isStrict, () =>
    maintenance.onCommit(),
  );
  return {
    store,
    dirtySinceMs: () => maintenance.dirtySinceMs,
    flush: () => maintenance.flush(),
    // COMMIT returns after the record is in the log.
    committed: () => Promise.resolve(),
    checkpoint: (waitMs) => maintenance.checkpoint(waitMs),
    openReader: (onReaderError) => openReader({ name, medium, files, timeoutMs, tuning, onError: onReaderError }),
    async close(leavesLog) {
      try {
        await maintenance.close();
        maintenance.flush();
        const logBytes = view.active.end + (view.sealed?.end ?? 0);
        // Without space for the copy, the log keeps everything, and the next opening copies it.
        if (!leavesLog && logBytes <= MAX_LOG_COPIED_ON_CLOSE_BYTES) await maintenance.checkpoint(0).catch(onError);
      } finally {
        files.close();
        release();
      }
    },
  };
}

/** Checks the database file before a log is created beside it. Throws `storage-corrupt`. */
function checkFile({ database }: OpenFiles): void {
  const sizeBytes = database.sizeBytes();
  if (sizeBytes === 0) return;
  const header = new Uint8Array(SQLITE_HEADER_BYTES);
  database.readOrZeros(header, 0);
  checkSqliteHeader(header, sizeBytes);
}

/**
 * Begins the first generation over a database file that is complete in itself: a new file, an imported one, or one with
 * a log that is `done`.
 */
function beginFirstGeneration(log: LogWriter, files: OpenFiles, recovered: RecoveredLog | undefined): Generation {
  return log.begin({
    generation: (recovered?.newest ?? 0) + 1,
    salt: crypto.getRandomValues(new Int32Array(1))[0]!,
    baseTransactionId: recovered?.lastTransactionId ?? 0,
    baseChecksum: 0,
    baseSizeBytes: files.database.sizeBytes(),
    isFirst: true,
  });
}

/**
 * Returns the page size of the recovered database, log included; `undefined` when it is empty. Throws
 * `storage-corrupt`.
 */
function checkDatabase(view: PageView): number | undefined {
  if (view.sizeBytes === 0) return undefined;
  const header = new Uint8Array(SQLITE_HEADER_BYTES);
  view.read(header, 0, Math.min(header.length, view.sizeBytes), 0);
  return checkSqliteHeader(header, view.sizeBytes).pageSizeBytes;
}

/**
 * Restores the marks that a kill between two calls prevented, so that open readers find the end of the log, and the way
 * from a complete generation to the next.
 */
function repairTail(log: LogWriter, recovered: RecoveredLog, active: Generation): void {
  log.markEnd(active);
  if (recovered.sealed !== undefined) log.markSealed(recovered.sealed);
}
