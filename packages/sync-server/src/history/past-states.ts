import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { RockpoolError, type ErrorData } from '@rockpool/shared';
import { holdLocks } from '../sqlite/beside-sqlite.ts';
import { databaseFileName } from '../store/data-directory.ts';
import { KeptThread } from '../store/kept-thread.ts';
import type { PastMoment } from './past-moment.ts';
import type { WrittenRowsRequest } from './written-rows.ts';
import type { PastStateFacts } from './write-past-state.ts';

/** A finished file. The receiver deletes it. */
export interface PastState extends PastStateFacts {
  readonly path: string;
}

/** A job for the thread, on the database file `from`. */
export type PastTask = { readonly from: string; readonly nowMs: number } & (
  | { readonly to: string; readonly moment: PastMoment }
  | { readonly request: WrittenRowsRequest }
);

export type PastAnswer =
  | { readonly facts: PastStateFacts }
  | { readonly rows: Uint8Array }
  | { readonly error: ErrorData };

/** Further requests for one database get `rate-limited`, because a build reads whole tables. */
const MAX_WAITING_OF_DATABASE = 8;

/**
 * The limit for all databases together. It is above that of one database, so that the members of one leave room for the
 * others.
 */
const MAX_WAITING = 32;

/** Reads past states of whole tables, one request at a time. Keeps no files. */
export class PastStates {
  private readonly directory: string;
  private last: Promise<unknown> = Promise.resolve();
  private readonly thread = new KeptThread<PastTask, PastAnswer>(new URL('./past-state-worker.ts', import.meta.url));
  // The databases of the requests that run or wait.
  private readonly waiting: string[] = [];
  private number = 0;
  private isClosed = false;

  /** `directory` is used for the builds only; files of an earlier run are deleted. */
  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
    this.removeFiles();
  }

  /** Throws `rate-limited`, `database-unavailable` while the server stops, and like writePastState. */
  async build(databaseId: string, from: string, moment: PastMoment, nowMs: number): Promise<PastState> {
    const path = join(this.directory, `${databaseFileName(databaseId)}.${++this.number}.past.gz`);
    const answer = await this.inTurn({ from, to: path, moment, nowMs });
    return { ...(answer as { readonly facts: PastStateFacts }).facts, path };
  }

  /** See readWrittenRows. Also throws `rate-limited`, and `database-unavailable` while the server stops. */
  async writtenRows(from: string, request: WrittenRowsRequest, nowMs: number): Promise<Uint8Array> {
    const answer = await this.inTurn({ from, request, nowMs });
    return (answer as { readonly rows: Uint8Array }).rows;
  }

  /** Waits for the request that runs, for at most 5 s, then removes the files. The requests behind it fail. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.thread.finish(this.last);
    this.removeFiles();
  }

  private async inTurn(task: PastTask): Promise<Exclude<PastAnswer, { readonly error: ErrorData }>> {
    const { waiting } = this;
    const ofDatabase = waiting.filter((from) => from === task.from).length;
    if (waiting.length >= MAX_WAITING || ofDatabase >= MAX_WAITING_OF_DATABASE) throw new RockpoolError('rate-limited');
    waiting.push(task.from);
    const done = this.last.then(() => {
      if (this.isClosed) throw new RockpoolError('database-unavailable', { problem: 'the server is stopping' });
      const release = holdLocks(task.from);
      return this.thread.run(task).finally(release);
    });
    this.last = done.catch(() => undefined);
    try {
      const answer = await done;
      if ('error' in answer) throw RockpoolError.fromData(answer.error);
      return answer;
    } finally {
      waiting.splice(waiting.indexOf(task.from), 1);
    }
  }

  private removeFiles(): void {
    // The data directory may already be deleted when the server closes.
    if (!existsSync(this.directory)) return;
    for (const name of readdirSync(this.directory))
      if (PAST_FILE.test(name)) rmSync(join(this.directory, name), { force: true });
  }
}

/** The file name, compressed and uncompressed. */
const PAST_FILE = /^db-.+\.sqlite\.\d+\.past\.gz(\.plain)?$/;
