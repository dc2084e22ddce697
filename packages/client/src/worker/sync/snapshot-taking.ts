import { toRockpoolError, type Hello } from '@rockpool/shared';
import type { SnapshotFile } from '../apply/apply-delivery.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { MachineEvent } from './sync-machine.ts';

/** Where a whole state is to be had as a file. */
export interface SnapshotSource {
  /**
   * Gets the file that the server offers, in the place of the one before. Null: there is none to be had here. Throws `network-unreachable` where it does not come to its
   * end, and then goes on there the next time; and `storage-…`.
   */
  take(onProgress: (progress: SnapshotProgress) => void, signal: AbortSignal): Promise<SnapshotFile | null>;
  /** Takes the file away. */
  discard(): Promise<void>;
}

export interface SnapshotTakingOptions {
  /** Undefined: a whole state comes as deliveries. */
  readonly source: SnapshotSource | undefined;
  readonly dispatch: (event: MachineEvent) => void;
}

export interface SnapshotTaking {
  /** For the next hello: the file that is here, or whether one would be taken. */
  readonly offer: Hello['snapshot'];
  /** The file that the hello has named, for the delivery that goes on from it. */
  readonly file: SnapshotFile | null;
  /** Of a file that is on its way; null while none is. */
  readonly progress: SnapshotProgress | null;
  /** Gets the file that the server offers. Nothing is told of it once the connection that offered it has gone. */
  take(isConnected: () => boolean): void;
  /** The connection has ended. */
  abort(): void;
  /** A delivery is applied: the file is in it, or of no use any more. */
  delivered(): void;
}

/** A log can be put back while a file comes, and once more; a server that never takes its own files has to send deliveries. */
const MOST_FILES_IN_A_ROW = 3;

/** Takes whole states as files, from the server's offer to the delivery that goes on from there. */
export function createSnapshotTaking({ source, dispatch }: SnapshotTakingOptions): SnapshotTaking {
  let file: SnapshotFile | null = null;
  let progress: SnapshotProgress | null = null;
  // Not after an attempt that got nowhere, until there was a delivery: then rows come as deliveries.
  let takesFiles = source !== undefined;
  let taking: AbortController | null = null;
  // Since the last delivery.
  let filesInARow = 0;

  async function takeFrom(from: SnapshotSource, isConnected: () => boolean): Promise<void> {
    const stop = new AbortController();
    taking = stop;
    file = null;
    filesInARow++;
    let hasMoved = false;
    const onMoved = (moved: SnapshotProgress): void => {
      if (!isConnected()) return;
      hasMoved = true;
      progress = moved;
      dispatch({ type: 'snapshot-progress' });
    };
    try {
      const taken = await from.take(onMoved, stop.signal);
      if (!isConnected()) return;
      progress = null;
      file = filesInARow > MOST_FILES_IN_A_ROW ? null : taken;
      takesFiles = file !== null;
      dispatch({ type: 'snapshot-taken' });
    } catch (thrown) {
      const error = toRockpoolError(thrown);
      takesFiles = hasMoved && (stop.signal.aborted || error.recovery === 'retry');
      if (!isConnected()) return;
      progress = null;
      // What does not come as a file comes as deliveries, at once.
      dispatch(takesFiles ? { type: 'failed', error: error.toData() } : { type: 'snapshot-taken' });
    }
  }

  return {
    get offer() {
      return file?.position ?? (takesFiles ? 'accepted' : 'refused');
    },
    get file() {
      return file;
    },
    get progress() {
      return progress;
    },
    take(isConnected) {
      if (source !== undefined) void takeFrom(source, isConnected);
    },
    abort() {
      taking?.abort();
      taking = null;
      progress = null;
    },
    delivered() {
      takesFiles = source !== undefined;
      filesInARow = 0;
      if (file === null) return;
      file = null;
      void source?.discard();
    },
  };
}
