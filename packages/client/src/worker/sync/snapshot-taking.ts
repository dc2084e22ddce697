import { RockpoolError, toRockpoolError, type ErrorData, type Hello } from '@rockpool/shared';
import type { SnapshotFile } from '../apply/snapshot-file.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { SnapshotWait } from './snapshot-wait.ts';
import type { MachineEvent } from './sync-state.ts';

/** Events of a snapshot download. */
export interface SnapshotEvents {
  onProgress(progress: SnapshotProgress): void;
  /** Starts a wait with its full limit. */
  onWait(wait: SnapshotWait): void;
}

/** A source of snapshot files. */
export interface SnapshotSource {
  /**
   * Replaces the local file by the one that the server offers. Returns null if none is available. Throws
   * - `network-unreachable` if the connection fails or is cut; the next call resumes the download
   * - `snapshot-unavailable` if the server sends no file or a wrong one
   * - the error of the app's `token` callback (`stage: 'token'`, or recovery `reauthenticate`)
   * - a `storage-…` error if the file cannot be written
   */
  take(events: SnapshotEvents, signal: AbortSignal): Promise<SnapshotFile | null>;
  /** Deletes the file. */
  discard(): Promise<void>;
}

export interface SnapshotTakingOptions {
  /** Undefined if full resyncs arrive as deliveries. */
  readonly source: SnapshotSource | undefined;
  readonly dispatch: (event: MachineEvent) => void;
  /** Called once, with the reason why no more files are taken. */
  readonly onProblem: (error: RockpoolError) => void;
}

export interface SnapshotTaking {
  /** The snapshot field of the next hello: the position of the local file, or whether one would be accepted. */
  readonly offer: Hello['snapshot'];
  /** The file named in the hello, for the delivery that continues from it. */
  readonly file: SnapshotFile | null;
  /** The progress of a download; null without one. */
  readonly progress: SnapshotProgress | null;
  /** Downloads the file that the server offers. Reports nothing once the connection that offered it has ended. */
  take(isConnected: () => boolean): void;
  /** Called when the connection has ended. */
  abort(): void;
  /** Takes no more files for the rest of its lifetime, and reports why. */
  giveUp(error: ErrorData): void;
  /** Called after a delivery was applied, which either included the file or made it obsolete. */
  delivered(): void;
}

/**
 * The maximum number of files without a delivery in between. A log can be restored while a file is downloaded, even
 * twice. A server that does not accept its own files has to send deliveries.
 */
const MOST_FILES_IN_A_ROW = 3;

/** Takes full resyncs as files, from the server's offer to the delivery that continues from there. */
export function createSnapshotTaking(options: SnapshotTakingOptions): SnapshotTaking {
  return new Taking(options);
}

class Taking implements SnapshotTaking {
  file: SnapshotFile | null = null;
  progress: SnapshotProgress | null = null;
  private readonly options: SnapshotTakingOptions;
  private hasGivenUp: boolean;
  /** False after an attempt without a file, until the next delivery: rows then arrive as deliveries. */
  private takesFiles = true;
  private taking: AbortController | null = null;
  /**
   * How far the download of the current file has come, over all attempts. A download that starts from the beginning
   * each time and never ends makes no progress.
   */
  private furthestBytes = 0;
  /** Counts files since the last delivery. */
  private filesInARow = 0;

  constructor(options: SnapshotTakingOptions) {
    this.options = options;
    this.hasGivenUp = options.source === undefined;
  }

  get offer(): Hello['snapshot'] {
    return this.file?.position ?? (this.takesFiles && !this.hasGivenUp ? 'accepted' : 'refused');
  }

  take(isConnected: () => boolean): void {
    const { source } = this.options;
    if (source !== undefined) void this.takeFrom(source, isConnected);
  }

  abort(): void {
    this.taking?.abort();
    this.taking = null;
    this.progress = null;
  }

  giveUp(error: ErrorData): void {
    if (this.hasGivenUp) return;
    this.hasGivenUp = true;
    // The connection itself works, so a failed download must not be reported as a missing network.
    const isUnnamed = error.code === 'network-unreachable' || error.code === 'internal';
    this.options.onProblem(
      isUnnamed ? new RockpoolError('snapshot-unavailable', error.fields) : RockpoolError.fromData(error),
    );
  }

  delivered(): void {
    this.takesFiles = true;
    this.filesInARow = 0;
    if (this.file === null) return;
    this.file = null;
    void this.options.source?.discard();
  }

  private async takeFrom(source: SnapshotSource, isConnected: () => boolean): Promise<void> {
    const { dispatch } = this.options;
    const stop = new AbortController();
    this.taking = stop;
    this.file = null;
    let hasMoved = false;
    const events: SnapshotEvents = {
      onProgress: (moved) => {
        if (!isConnected()) return;
        if (moved.receivedBytes > this.furthestBytes) hasMoved = true;
        this.furthestBytes = Math.max(this.furthestBytes, moved.receivedBytes);
        this.progress = moved;
      },
      onWait(wait) {
        if (isConnected()) dispatch({ type: 'snapshot-progress', wait });
      },
    };
    try {
      const takesMore = this.filesInARow < MOST_FILES_IN_A_ROW;
      const taken = await (takesMore ? source.take(events, stop.signal) : source.discard());
      if (!isConnected()) return;
      this.progress = null;
      if (taken) this.filesInARow++;
      this.file = taken ?? null;
      this.takesFiles = this.file !== null;
      this.furthestBytes = 0;
      dispatch({ type: 'snapshot-taken' });
    } catch (thrown) {
      if (!isConnected()) return;
      this.progress = null;
      const error = toRockpoolError(thrown);
      // A new connection shows whether there is a network, and the download continues on it. A download that made no
      // progress since the last connection, which the server welcomed, is given up.
      if (isOfToken(error) || (hasMoved && error.code === 'network-unreachable'))
        return dispatch({ type: 'failed', error: error.toData() });
      this.giveUp(error.toData());
      dispatch({ type: 'snapshot-taken' });
    }
  }
}

/** Whether the token is the cause: the socket would fail as well, and the next attempt reports it. */
function isOfToken({ fields, recovery }: RockpoolError): boolean {
  return fields['stage'] === 'token' || recovery === 'reauthenticate';
}
