import { encodeError } from '../rpc/error-transfer.ts';
import type { SqlStatement, StatementResult } from '../rpc/sql-statement.ts';
import type { WriteAction } from '../rpc/write-action.ts';
import { createAnsweredRequests, type AnsweredRequests } from './answered-requests.ts';
import type { ChannelMessage, LeaderStatus, WriteMessage } from './channel-message.ts';
import type { CommitPosition } from './commit-notice.ts';

export interface WriteRequest {
  /** The effect is stored together with this id, so that the same request never takes effect twice. */
  readonly id: string;
  readonly statements: readonly SqlStatement[];
  readonly action?: WriteAction;
}

/** What this needs of a database. */
export interface WritableDatabase {
  write(request: WriteRequest): { readonly results: readonly StatementResult[]; readonly touchedTables: readonly string[]; readonly repeated: boolean };
}

/** What a tab does beside serving writes while it leads, such as syncing. */
export interface LeaderWork {
  /** A write of this or another tab was committed. */
  onLocalCommit(): void;
  /** Resolves when nothing of it touches the database any more. */
  stop(): Promise<void>;
}

/** What that work may use. */
export interface LeaderTools<Database> {
  readonly database: Database;
  /** To be called after every commit that is not a tab's write. */
  publishCommit(tables: readonly string[]): void;
  publishStatus(status: LeaderStatus): void;
}

export interface LeadershipOptions<Database> {
  /** Names this leadership; no other has the same. */
  readonly epoch: string;
  readonly database: Database;
  readonly schema: string;
  readonly initialStatus: LeaderStatus;
  readonly nowMs: () => number;
  readonly post: (message: ChannelMessage) => void;
  readonly startWork: (tools: LeaderTools<Database>) => LeaderWork;
  readonly onCommit: (notice: CommitPosition & { readonly tables: readonly string[] }) => void;
  readonly onStatus: (status: LeaderStatus) => void;
}

/** What the leader does for all tabs: runs writes, numbers commits, tells the status. Lives from taking over to letting go. */
export class Leadership<Database extends WritableDatabase> {
  readonly epoch: string;
  private readonly options: LeadershipOptions<Database>;
  private readonly answered: AnsweredRequests;
  private readonly work: LeaderWork;
  private status: LeaderStatus;
  private commitNumber = 0;

  constructor(options: LeadershipOptions<Database>) {
    this.options = options;
    this.epoch = options.epoch;
    this.status = options.initialStatus;
    this.answered = createAnsweredRequests(options.nowMs);
    this.work = options.startWork({
      database: options.database,
      publishCommit: (tables) => this.publishCommit(tables),
      publishStatus: (status) => this.publishStatus(status),
    });
  }

  get position(): CommitPosition {
    return { epoch: this.epoch, commitNumber: this.commitNumber };
  }

  get currentStatus(): LeaderStatus {
    return this.status;
  }

  commit(request: WriteRequest): readonly StatementResult[] {
    const { results, touchedTables, repeated } = this.options.database.write(request);
    if (!repeated) {
      if (touchedTables.length > 0) this.publishCommit(touchedTables);
      this.work.onLocalCommit();
    }
    return results;
  }

  /**
   * Runs what a follower asks, unless that asks another leader, has been told already that it failed, or wrote something before that has not
   * come yet: it will ask again.
   */
  serve({ requestId, afterRequestId, statements, action, epoch, latestStartMs }: WriteMessage): void {
    const { answered } = this;
    const { post, nowMs } = this.options;
    if (epoch !== this.epoch || nowMs() > latestStartMs) return;
    if (afterRequestId !== null && !answered.has(afterRequestId)) return;
    const refusal = answered.refusalOf(requestId);
    if (refusal !== null) return post({ kind: 'refused', requestId, error: refusal });
    try {
      const results = this.commit({ id: requestId, statements, ...(action === undefined ? {} : { action }) });
      answered.add(requestId, null, latestStartMs);
      post({ kind: 'written', requestId, results });
    } catch (thrown) {
      const error = encodeError(thrown);
      answered.add(requestId, error, latestStartMs);
      post({ kind: 'refused', requestId, error });
    }
  }

  announce(): void {
    this.options.post({ kind: 'leader', ...this.position, schema: this.options.schema, status: this.status });
  }

  stop(): Promise<void> {
    return this.work.stop();
  }

  private publishCommit(tables: readonly string[]): void {
    this.commitNumber++;
    const notice = { ...this.position, tables };
    this.options.post({ kind: 'commit', ...notice });
    this.options.onCommit(notice);
  }

  private publishStatus(status: LeaderStatus): void {
    this.status = status;
    this.options.post({ kind: 'status', epoch: this.epoch, status });
    this.options.onStatus(status);
  }
}
