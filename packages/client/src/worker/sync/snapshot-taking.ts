import { RockpoolError, toRockpoolError, type ErrorData, type Hello } from '@rockpool/shared';
import type { SnapshotFile } from '../apply/snapshot-file.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { SnapshotWait } from './snapshot-wait.ts';
import type { MachineEvent } from './sync-machine.ts';

/** Events of a snapshot download. */
export interface SnapshotEvents {
  onProgress(progress: SnapshotProgress): void;
  /** Starts a wait with its full time. */
  onWait(wait: SnapshotWait): void;
}

/** A source of snapshot files. */
export interface SnapshotSource {
  /**
   * Gets the file that the server offers, in the place of the one before. Null: there is none to be had here. Throws
   * - `network-unreachable` where the connection fails or is cut; the next call goes on there
   * - `snapshot-unavailable` where the server gives no file, or not the right one
   * - what the app's `token` callback throws, with `stage: 'token'` or a recovery of `reauthenticate`; and `storage-…`
   */
  take(events: SnapshotEvents, signal: AbortSignal): Promise<SnapshotFile | null>;
  /** Deletes the file. */
  discard(): Promise<void>;
}

export interface SnapshotTakingOptions {
  /** Undefined: full resyncs arrive as deliveries. */
  readonly source: SnapshotSource | undefined;
  readonly dispatch: (event: MachineEvent) => void;
  /** Called once with the reason why no more files are taken. */
  readonly onProblem: (error: RockpoolError) => void;
}

export interface SnapshotTaking {
  /** For the next hello: the position of the local file, or whether one would be accepted. */
  readonly offer: Hello['snapshot'];
  /** The file named in the hello, for the delivery that continues from it. */
  readonly file: SnapshotFile | null;
  /** The progress of a download; null without one. */
  readonly progress: SnapshotProgress | null;
  /** Downloads the file that the server offers. Reports nothing once the connection that offered it has ended. */
  take(isConnected: () => boolean): void;
  /** The connection has ended. */
  abort(): void;
  /** Stops taking files for its lifetime, and reports why. */
  giveUp(error: ErrorData): void;
  /** A delivery was applied: it included the file or made it obsolete. */
  delivered(): void;
}

/**
 * A log can be restored while a file is downloaded, even twice; a server that never accepts its own files has to send
 * deliveries.
 */
const MOST_FILES_IN_A_ROW = 3;

/** Takes full resyncs as files, from the server's offer to the delivery that continues from there. */
export function createSnapshotTaking({ source, dispatch, onProblem }: SnapshotTakingOptions): SnapshotTaking {
  let file: SnapshotFile | null = null;
  let progress: SnapshotProgress | null = null;
  let hasGivenUp = source === undefined;
  // Not after an attempt without a file, until there was a delivery: then rows come as deliveries.
  let takesFiles = true;
  let taking: AbortController | null = null;
  // Of the file that is on its way, over all attempts: one that always begins anew and never ends does not get on.
  let furthestBytes = 0;
  // Since the last delivery.
  let filesInARow = 0;

  async function takeFrom(from: SnapshotSource, isConnected: () => boolean): Promise<void> {
    const stop = new AbortController();
    taking = stop;
    file = null;
    filesInARow++;
    let hasMoved = false;
    const events: SnapshotEvents = {
      onProgress(moved) {
        if (!isConnected()) return;
        if (moved.receivedBytes > furthestBytes) hasMoved = true;
        furthestBytes = Math.max(furthestBytes, moved.receivedBytes);
        progress = moved;
      },
      onWait(wait) {
        if (isConnected()) dispatch({ type: 'snapshot-progress', wait });
      },
    };
    try {
      const taken = await from.take(events, stop.signal);
      if (!isConnected()) return;
      progress = null;
      file = filesInARow > MOST_FILES_IN_A_ROW ? null : taken;
      takesFiles = file !== null;
      furthestBytes = 0;
      dispatch({ type: 'snapshot-taken' });
    } catch (thrown) {
      if (!isConnected()) return;
      progress = null;
      const error = toRockpoolError(thrown);
      // A new connection shows whether there is a network; the download goes on there. One that has not moved since the
      // last connection, although that was welcomed, does not get on.
      if (isOfToken(error) || (hasMoved && error.code === 'network-unreachable'))
        return dispatch({ type: 'failed', error: error.toData() });
      giveUp(error.toData());
      dispatch({ type: 'snapshot-taken' });
    }
  }

  function giveUp(error: ErrorData): void {
    if (hasGivenUp) return;
    hasGivenUp = true;
    // What did not come through has a name of its own: the server itself is reached, by the socket.
    const isUnnamed = error.code === 'network-unreachable' || error.code === 'internal';
    onProblem(isUnnamed ? new RockpoolError('snapshot-unavailable', error.fields) : RockpoolError.fromData(error));
  }

  return {
    get offer() {
      return file?.position ?? (takesFiles && !hasGivenUp ? 'accepted' : 'refused');
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
    giveUp,
    delivered() {
      takesFiles = true;
      filesInARow = 0;
      if (file === null) return;
      file = null;
      void source?.discard();
    },
  };
}

/** It would fail for the socket too; the next attempt reports it. */
function isOfToken({ fields, recovery }: RockpoolError): boolean {
  return fields['stage'] === 'token' || recovery === 'reauthenticate';
}
