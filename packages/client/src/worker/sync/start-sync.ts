import { RockpoolError } from '@rockpool/shared';
import type { LeaderTools, LeaderWork } from '../leader/leadership.ts';
import type { Persistence } from '../../rpc/persistence.ts';
import type { WorkerPresence } from '../presence/worker-presence.ts';
import type { Transport } from '../../rpc/transport.ts';
import type { SyncTarget } from '../../rpc/worker-api.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { transportNamed } from './choose-transport.ts';
import { connectOver } from './server-connection.ts';
import { sendWhenStored } from './send-when-stored.ts';
import { toSyncDatabase } from './sync-database.ts';
import type { SnapshotSource } from './snapshot-taking.ts';
import { createSyncEngine } from './sync-engine.ts';

export interface StartSyncOptions {
  readonly target: Pick<SyncTarget, 'url' | 'databaseId'> & Partial<Pick<SyncTarget, 'principal'>>;
  /** Default: `auto`. */
  readonly transport?: Transport;
  readonly token: () => Promise<string>;
  readonly tools: LeaderTools<OpenDatabase>;
  readonly persistence: Persistence;
  /** Default: no presence. */
  readonly presence?: WorkerPresence;
  /** Default: full resyncs arrive as deliveries. */
  readonly snapshots?: SnapshotSource;
}

/** Syncs for as long as this tab leads. */
export function startSync({
  target,
  transport = transportNamed('auto'),
  token,
  tools,
  persistence,
  presence,
  snapshots,
}: StartSyncOptions): LeaderWork {
  const { database, committed } = tools;
  const connect = connectOver(transport);
  const nowMs = (): number => Date.now();
  const line = presence?.lead();
  const syncDatabase = toSyncDatabase({
    database,
    elapsedMs: () => performance.now(),
    onApplied: (touched) => tools.publishCommit(touched),
  });
  const engine = createSyncEngine({
    ...target,
    token,
    database: syncDatabase,
    connect: committed === undefined ? connect : sendWhenStored(connect, committed),
    ...(line && { presence: line }),
    ...(snapshots && { snapshots }),
    inTurn: (job) => tools.inTurn(job),
    onReport: (report) => tools.publishStatus({ ...report, persistence }),
    onProblem: (error) => tools.publishProblem(error),
    onStuck: () => tools.publishProblem(new RockpoolError('worker-stuck')),
    nowMs,
  });
  // Both events come from the device itself. In Chromium they come through the page, because its workers do not receive
  // them.
  const tryNow = (): void => engine.tryNow();
  const device: Partial<EventTarget> = globalThis; // Node reports no network changes.
  const check = (): void => engine.check();
  device.addEventListener?.('online', tryNow);
  device.addEventListener?.('offline', check);
  engine.start();
  return {
    onLocalCommit: () => engine.committed(),
    tryNow,
    withdraw(id) {
      const touched = syncDatabase.withdrawals.withdraw(id);
      const results = touched === null ? [] : [{ changes: 1 }];
      return { results, touchedTables: [...(touched ?? [])], changes: [], repeated: touched === null };
    },
    onRefused: (error) => engine.onRefused(error),
    stop: async () => {
      device.removeEventListener?.('online', tryNow);
      device.removeEventListener?.('offline', check);
      engine.stop();
      line?.stop();
      await snapshots?.discard();
    },
  };
}
