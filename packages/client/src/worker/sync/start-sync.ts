import { RockpoolError } from '@rockpool/shared';
import type { LeaderTools, LeaderWork } from '../leader/leadership.ts';
import type { Persistence } from '../../rpc/persistence.ts';
import type { WorkerPresence } from '../presence/worker-presence.ts';
import type { SyncTarget } from '../../rpc/worker-api.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { webSocketOrHttp } from './choose-connection.ts';
import { connectHttp } from './http-connection.ts';
import { sendWhenStored } from './send-when-stored.ts';
import { toSyncDatabase } from './sync-database.ts';
import type { SnapshotSource } from './snapshot-taking.ts';
import { createSyncEngine } from './sync-engine.ts';
import { connectWebSocket } from './web-socket.ts';

export interface StartSyncOptions {
  readonly target: Pick<SyncTarget, 'url' | 'databaseId'>;
  readonly token: () => Promise<string>;
  readonly tools: LeaderTools<OpenDatabase>;
  readonly persistence: Persistence;
  /** Default: no presence. */
  readonly presence?: WorkerPresence;
  /** Default: full resyncs arrive as deliveries. */
  readonly snapshots?: SnapshotSource;
}

/** Syncs for as long as this tab leads. */
export function startSync({ target, token, tools, persistence, presence, snapshots }: StartSyncOptions): LeaderWork {
  const { database, committed } = tools;
  const connect = webSocketOrHttp(connectWebSocket, connectHttp);
  const nowMs = (): number => Date.now();
  const line = presence?.lead();
  const engine = createSyncEngine({
    ...target,
    token,
    database: toSyncDatabase({
      database,
      elapsedMs: () => performance.now(),
      onApplied: (touched) => tools.publishCommit(touched),
    }),
    connect: committed === undefined ? connect : sendWhenStored(connect, committed),
    ...(line === undefined ? {} : { presence: line }),
    ...(snapshots === undefined ? {} : { snapshots }),
    inTurn: (job) => tools.inTurn(job),
    onReport: (report) => tools.publishStatus({ ...report, persistence }),
    onProblem: (error) => tools.publishProblem(error),
    onStuck: () => tools.publishProblem(new RockpoolError('worker-stuck')),
    nowMs,
  });
  // From the device itself, or from Chromium, where workers are not told, by way of the page.
  const tryNow = (): void => engine.tryNow();
  const device: Partial<EventTarget> = globalThis; // Node tells of no networks.
  device.addEventListener?.('online', tryNow);
  engine.start();
  return {
    onLocalCommit: () => engine.committed(),
    tryNow,
    stop: async () => {
      device.removeEventListener?.('online', tryNow);
      engine.stop();
      line?.stop();
      await snapshots?.discard();
    },
  };
}
