import { RockpoolError } from '@rockpool/shared';
import { sumOfStates, type BackupState } from '../backup/backup-state.ts';
import type { Databases } from '../database/databases.ts';
import type { SessionDatabase } from '../database/live-database.ts';
import type { HistoryRequest } from '../history/answer-history.ts';
import type { PastMoment } from '../history/past-moment.ts';
import type { PastState } from '../history/past-states.ts';
import type { Logger } from '../observe/log-line.ts';
import type { FollowedCommit } from '../observe/push-trace.ts';
import type { Snapshot } from '../snapshot/snapshots.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import { DatabaseThread } from './database-thread.ts';
import { ownerOf } from './owner-of.ts';
import type { LimitedTenants, ThreadOptions, ThreadState } from './thread-messages.ts';

export interface DatabaseThreadsOptions {
  readonly thread: Omit<ThreadOptions, 'index'>;
  readonly log: Logger;
  readonly onCommit: (durationMs: number) => void;
  readonly onFollowed: (followed: FollowedCommit) => void;
  /** Begins to watch the sizes of tenants. Returns a function that stops it. */
  readonly watch: () => () => void;
}

/** Runs databases on worker threads. The hash of a database's id selects its thread. */
export class DatabaseThreads implements Databases {
  restartCount = 0;
  private readonly threads: readonly DatabaseThread[];
  private readonly stopWatching: () => void;
  private limitedTenants: LimitedTenants = { full: new Set(), unnamed: new Set() };
  private readonly held = new Map<string, RockpoolError>();

  constructor({ thread, log, onCommit, onFollowed, watch }: DatabaseThreadsOptions) {
    this.threads = Array.from(
      { length: thread.count },
      (_, index) =>
        new DatabaseThread(
          { ...thread, index },
          {
            log,
            onCommit,
            onFollowed,
            onRestart: () => this.restartCount++,
            onStart: (started) => this.tellState(started),
          },
        ),
    );
    this.stopWatching = watch();
  }

  /** Resolves once all threads run. Rejects if one cannot be started. */
  async ready(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.ready()));
  }

  open(databaseId: string): SessionDatabase {
    return this.ownerOf(databaseId);
  }

  /** Only a principal that may read every row receives a snapshot. */
  async snapshot(databaseId: string, schemaHash: string, rows: ReadableRows): Promise<Snapshot | null> {
    return rows === 'everything' ? this.ownerOf(databaseId).snapshot(databaseId, schemaHash) : null;
  }

  /** Only principals that may read every row: a filter cannot be sent to another thread. */
  history(databaseId: string, request: HistoryRequest, rows: ReadableRows, nowMs: number): Promise<Uint8Array> {
    if (rows !== 'everything') throw new RockpoolError('auth-forbidden');
    return this.ownerOf(databaseId).history(databaseId, request, nowMs);
  }

  /** Only a principal that may read every row receives a past state. */
  async pastState(databaseId: string, moment: PastMoment, rows: ReadableRows, nowMs: number): Promise<PastState> {
    if (rows !== 'everything') throw new RockpoolError('auth-forbidden');
    return this.ownerOf(databaseId).pastState(databaseId, moment, nowMs);
  }

  takeOffline(databaseId: string, error: RockpoolError): void {
    this.ownerOf(databaseId).tell({ kind: 'take-offline', databaseId, error: error.toData() });
  }

  hold(databaseId: string, error: RockpoolError): Promise<void> {
    // A thread that starts meanwhile receives the held databases.
    this.held.set(databaseId, error);
    return this.ownerOf(databaseId).hold(databaseId, error);
  }

  release(databaseId: string): void {
    this.held.delete(databaseId);
    this.ownerOf(databaseId).tell({ kind: 'release', databaseId });
  }

  /** Sets the databases whose tenants are full, and those whose tenant the host cannot name. */
  limitTenants(full: ReadonlySet<string>, unnamed: ReadonlySet<string>): void {
    this.limitedTenants = { full, unnamed };
    for (const thread of this.threads) thread.tell({ kind: 'limited-tenants', full, unnamed });
  }

  get openCount(): number {
    return this.states.reduce((sum, { openCount }) => sum + openCount, 0);
  }

  get damagedCount(): number {
    return this.states.reduce((sum, { damagedCount }) => sum + damagedCount, 0);
  }

  get backupState(): BackupState | null {
    return sumOfStates(this.states.map(({ backup }) => backup));
  }

  /** Of the slowest thread. */
  get loopDelaySeconds(): number {
    return Math.max(...this.threads.map(({ loopDelaySeconds }) => loopDelaySeconds));
  }

  get runningCount(): number {
    return this.threads.filter(({ isRunning }) => isRunning).length;
  }

  /** The last report of each thread, by index. */
  get states(): readonly ThreadState[] {
    return this.threads.map(({ state }) => state);
  }

  async close(): Promise<void> {
    this.stopWatching();
    await Promise.all(this.threads.map((thread) => thread.close()));
  }

  /** Sends a new thread the messages that its predecessor received. */
  private tellState(started: DatabaseThread): void {
    started.tell({ kind: 'limited-tenants', ...this.limitedTenants });
    // Ignores errors, because the caller receives the response of the earlier thread.
    for (const [databaseId, error] of this.held)
      if (this.ownerOf(databaseId) === started) started.hold(databaseId, error).catch(() => undefined);
  }

  private ownerOf(databaseId: string): DatabaseThread {
    return this.threads[ownerOf(databaseId, this.threads.length)] as DatabaseThread;
  }
}
