import { decodeSchema, encodeSchema } from '#shared/index.ts';
import { memoryMedium, type Medium } from '#vfs-opfs/index.ts';
import type { TouchedTables } from '#client/rpc/query-dependencies.ts';
import type { SnapshotProgress } from '#client/rpc/snapshot-progress.ts';
import type { SyncState, WaitStage } from '#client/rpc/sync-status.ts';
import type { EngineReport } from '#client/worker/sync/sync-engine.ts';
import { openStored } from '#client/testing/worker/test-database.ts';
import { TEST_SCHEMA } from '#sync-server/testing/test-schema.ts';
import { SocketDevice } from '#kit/socket-device.ts';
import { REAL_PLATFORM } from '#kit/test-device.ts';
import { testSnapshots, type TestSnapshotOptions } from './test-snapshots.ts';

export interface SnapshotDeviceOptions extends TestSnapshotOptions {
  /** Default: a new, empty one. */
  readonly medium?: Medium;
  /** Default: true. */
  readonly takesFiles?: boolean;
}

/** A device with stored files that takes snapshots. Connects on `start`. */
export class SnapshotDevice extends SocketDevice {
  readonly progress: SnapshotProgress[] = [];
  /** The reported states and wait stages, without repetitions. */
  readonly states: SyncState[] = [];
  readonly stages: WaitStage[] = [];
  readonly notified: TouchedTables[] = [];
  override onApplied = (touched: TouchedTables): void => {
    if (touched.tables.length > 0) this.notified.push(touched);
  };

  static async open({
    medium = memoryMedium(),
    takesFiles = true,
    ...options
  }: SnapshotDeviceOptions): Promise<SnapshotDevice> {
    // A worker decodes the schema that its page sends.
    const schema = decodeSchema(encodeSchema(TEST_SCHEMA));
    const { database, close } = await openStored(medium, { schema, ...REAL_PLATFORM });
    const snapshots = testSnapshots(database, medium, options);
    const { server, token } = options;
    return new SnapshotDevice({
      server,
      ...(token && { token }),
      ...(takesFiles && { snapshots }),
      random: () => 0,
      opened: { database, close: () => snapshots.discard().then(close) },
    });
  }

  protected override onReport(report: EngineReport): void {
    super.onReport(report);
    noted(this.states, report.state);
    if (report.waitingFor !== null) noted(this.stages, report.waitingFor.stage);
    if (report.snapshot !== null) this.progress.push(report.snapshot);
  }
}

function noted<T>(list: T[], now: T): void {
  if (list.at(-1) !== now) list.push(now);
}
