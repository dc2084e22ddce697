import { SnapshotPins } from './locks/snapshot-pins.ts';
import { advanceSignalName } from './locks/storage-signals.ts';
import { readLog } from './log/recovery.ts';
import type { RecoveredLog } from './log/recovery.ts';
import { readSegmentHeader } from './log/segment-header.ts';
import type { FileMedium } from './media/medium.ts';
import { openFiles } from './open-files.ts';
import type { OpenFiles } from './open-files.ts';
import { openedReader } from './opened-store.ts';
import type { OpenedStore } from './opened-store.ts';
import { PageView } from './pages/page-view.ts';
import { ReaderStore } from './reader-store.ts';
import { StorageError, errorFromMedium } from './storage-error.ts';
import type { Tuning } from './tuning.ts';

/** How often a reader checks for the database while it does not exist yet. */
const LOOK_AGAIN_MS = 20;

/**
 * How often in a row the log may change between reading it and locking it before that counts against the time limit. A
 * writer rarely swaps the log's segments, so only damage can cause it more often.
 */
const MOST_MOVES = 100;

export interface OpenReaderOptions {
  readonly name: string;
  readonly medium: FileMedium;
  /** Open files that the caller owns and closes. Default: the reader opens its own. */
  readonly files?: OpenFiles;
  readonly timeoutMs: number;
  readonly tuning: Tuning;
  readonly onError: (error: unknown) => void;
}

/**
 * Opens a reader, with or without a live writer. A reader creates nothing: it waits until a writer has created the
 * database, and fails with `storage-missing` after `timeoutMs`.
 */
export async function openReader(options: OpenReaderOptions): Promise<OpenedStore> {
  const { name, medium, timeoutMs } = options;
  const pins = new SnapshotPins(medium.locks, name);
  const deadline = performance.now() + timeoutMs;
  for (let moves = 0; ;) {
    const files = options.files === undefined ? await openFiles(medium, name, false) : borrowed(options.files);
    try {
      const log = files === undefined ? undefined : await pinnedLog(files, pins, timeoutMs);
      if (files !== undefined && log !== undefined && log !== 'moved') return startReading(options, files, pins, log);
      if (log === 'moved' && moves < MOST_MOVES) {
        moves += 1;
        files?.close();
        continue;
      }
    } catch (error) {
      pins.close();
      files?.close();
      throw errorFromMedium(error, 'open');
    }
    files?.close();
    if (performance.now() >= deadline) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  pins.close();
  throw new StorageError('storage-missing', { name, timeoutMs });
}

/**
 * Reads the log and locks the generation in which it ends. Returns `undefined` when the log has no generation, and
 * `moved` if a writer continued in between.
 */
async function pinnedLog(
  files: OpenFiles,
  pins: SnapshotPins,
  timeoutMs: number,
): Promise<RecoveredLog | 'moved' | undefined> {
  const log = readLog(files.segments);
  if (log?.active === undefined) return undefined;
  const { active } = log;
  const isHeld = await pins.acquire(active.number, timeoutMs);
  const header = readSegmentHeader(files.segments[active.segment]!);
  if (
    isHeld &&
    header !== undefined &&
    header.generation === active.number &&
    header.salt === active.salt &&
    header.state === 'live'
  )
    return log;
  pins.releaseAll();
  return 'moved';
}

function startReading(
  options: OpenReaderOptions,
  files: OpenFiles,
  pins: SnapshotPins,
  log: RecoveredLog,
): OpenedStore {
  const { name, medium, tuning, onError } = options;
  const view = new PageView(files, log.pageSizeBytes, tuning.poolSizeBytes, log.active!, log.sealed);
  const store = new ReaderStore(files, view, tuning.poolSizeBytes, pins);
  const stopListening = medium.signals.listen(advanceSignalName(name), () => {
    try {
      store.advanceWhenIdle();
    } catch (error) {
      onError(error);
    }
  });
  return openedReader(store, {
    openReader: (onReaderError) => openReader({ ...options, files, onError: onReaderError }),
    async close() {
      stopListening();
      pins.close();
      files.close();
    },
  });
}

function borrowed(files: OpenFiles): OpenFiles {
  return { ...files, close: () => undefined };
}
