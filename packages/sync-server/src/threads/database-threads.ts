import { RockpoolError } from '@rockpool/shared';
import type { Databases } from '../database/databases.ts';
import type { SessionDatabase } from '../database/session-database.ts';
import type { HistoryRequest } from '../history/answer-history.ts';
import type { Logger } from '../observe/log-line.ts';
import type { Snapshot } from '../snapshot/snapshots.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import { DatabaseThread } from './database-thread.ts';
import { ownerOf } from './owner-of.ts';
import type { ThreadOptions, ThreadState } from './thread-messages.ts';

export interface DatabaseThreadsOptions {
  readonly thread: Omit<ThreadOptions, 'index'>;
  readonly log: Logger;
  readonly onCommit: (durationMs: number) => void;
  /** Begins to watch the sizes of tenants. Returns a function that stops it. */
  readonly watch: () => () => void;
}

/** Databases on threads of their own. Each database belongs to one of them, by the hash of its id. */
export class DatabaseThreads implements Databases {
  restartCount = 0;
  private readonly threads: readonly DatabaseThread[];
  private readonly stopWatching: () => void;
  private fullTenants: ReadonlySet<string> = new Set();

  constructor({ thread, log, onCommit, watch }: DatabaseThreadsOptions) {
    this.threads = Array.from(
      { length: thread.count },
      (_, index) =>
        new DatabaseThread(
          { ...thread, index },
          {
            log,
            onCommit,
            onRestart: () => this.restartCount++,
            onStart: (started) => started.tell({ kind: 'full-tenants', databaseIds: this.fullTenants }),
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
    return this.ownerOf(databaseId).open(databaseId);
  }

  /** Only a reader of everything gets a snapshot. */
  async snapshot(databaseId: string, rows: ReadableRows): Promise<Snapshot | null> {
    return rows === 'everything' ? this.ownerOf(databaseId).snapshot(databaseId) : null;
  }

  /** Only readers of everything: a filter cannot be sent to another thread. */
  history(databaseId: string, request: HistoryRequest, rows: ReadableRows, nowMs: number): Promise<Uint8Array> {
    if (rows !== 'everything') throw new RockpoolError('auth-forbidden');
    return this.ownerOf(databaseId).history(databaseId, request, nowMs);
  }

  takeOffline(databaseId: string, error: RockpoolError): void {
    this.ownerOf(databaseId).tell({ kind: 'take-offline', databaseId, error: error.toData() });
  }

  /** Sets the databases whose tenants may not grow. */
  setFullTenants(databaseIds: ReadonlySet<string>): void {
    this.fullTenants = databaseIds;
    for (const thread of this.threads) thread.tell({ kind: 'full-tenants', databaseIds });
  }

  get openCount(): number {
    return this.states.reduce((sum, { openCount }) => sum + openCount, 0);
  }

  get damagedCount(): number {
    return this.states.reduce((sum, { damagedCount }) => sum + damagedCount, 0);
  }

  get runningCount(): number {
    return this.threads.filter(({ isRunning }) => isRunning).length;
  }

  /** What the threads reported last, by index. */
  get states(): readonly ThreadState[] {
    return this.threads.map(({ state }) => state);
  }

  async close(): Promise<void> {
    this.stopWatching();
    await Promise.all(this.threads.map((thread) => thread.close()));
  }

  private ownerOf(databaseId: string): DatabaseThread {
    return this.threads[ownerOf(databaseId, this.threads.length)] as DatabaseThread;
  }
}
