import type { RockpoolError } from '@rockpool/shared';
import { encodeError } from '../rpc/error-transfer.ts';
import type { Reads } from '../rpc/reads.ts';
import type { SqlStatement, StatementResult } from '../rpc/sql-statement.ts';
import type { WriteAction } from '../rpc/write-action.ts';
import { createAnsweredRequests, type AnsweredRequests } from './answered-requests.ts';
import type { AskMessage, BroadcastMessage, DirectMessage, LeaderRequest, LeaderStatus, ReadWork } from './channel-message.ts';
import type { CommitPosition } from './commit-notice.ts';
import type { OpenedDatabase } from './opened-database.ts';

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
  /** See OpenedDatabase. Nothing may leave this device before what it is based on is kept here. */
  readonly committed?: () => Promise<void>;
  /** To be called after every commit that is not a tab's write, in the same turn. */
  publishCommit(tables: readonly string[]): void;
  publishStatus(status: LeaderStatus): void;
  /** Something happened in the background that the app should hear of. */
  publishProblem(error: RockpoolError): void;
}

export interface LeadershipOptions<Database> {
  /** Names this leadership; no other has the same. */
  readonly epoch: string;
  readonly tabId: string;
  readonly opened: OpenedDatabase<Database>;
  readonly sharesFiles: boolean;
  readonly schema: string;
  readonly initialStatus: LeaderStatus;
  readonly nowMs: () => number;
  readonly post: (message: BroadcastMessage) => void;
  readonly send: (tabId: string, message: DirectMessage) => void;
  readonly startWork: (tools: LeaderTools<Database>) => LeaderWork;
  readonly onCommit: (notice: CommitPosition & { readonly tables: readonly string[] }) => void;
  readonly onStatus: (status: LeaderStatus) => void;
  readonly onProblem: (error: RockpoolError) => void;
}

/**
 * What the leader does for all tabs: runs writes, reads for those that cannot, numbers commits, tells the status. Lives from taking over to
 * letting go.
 *
 * A commit is told to nobody before the medium has it: neither to its author, nor to other tabs, nor to the server.
 */
export class Leadership<Database extends WritableDatabase> {
  readonly epoch: string;
  private readonly options: LeadershipOptions<Database>;
  private readonly answered: AnsweredRequests;
  /** What is being done for followers. */
  private readonly begun = new Set<string>();
  private work: LeaderWork;
  private status: LeaderStatus;
  private commitNumber = 0;

  constructor(options: LeadershipOptions<Database>) {
    this.options = options;
    this.epoch = options.epoch;
    this.status = options.initialStatus;
    this.answered = createAnsweredRequests(options.nowMs);
    this.work = this.startWork();
  }

  get position(): CommitPosition {
    return { epoch: this.epoch, commitNumber: this.commitNumber };
  }

  get currentStatus(): LeaderStatus {
    return this.status;
  }

  /** Commits before it returns; resolves when the commit is kept. */
  async commit(request: WriteRequest): Promise<readonly StatementResult[]> {
    const { opened } = this.options;
    const { results, touchedTables, repeated } = opened.database.write(request);
    if (opened.committed !== undefined) await opened.committed();
    if (!repeated) {
      if (touchedTables.length > 0) this.tellCommit(touchedTables);
      this.work.onLocalCommit();
    }
    return results;
  }

  /** Begins a request of this tab or of a follower before it returns. Resolves with what the request asks for. */
  async carryOut(id: string, request: LeaderRequest): Promise<unknown> {
    if (request.kind === 'read') return callReads(this.options.opened.reads, request);
    const { statements, action } = request;
    return this.commit({ id, statements, ...(action === undefined ? {} : { action }) });
  }

  /**
   * Does what a follower asks, unless that asks another leader, has been told already that it failed, or wrote something before that has not
   * come yet: it will ask again. What is under way when it is asked again is answered once.
   */
  async serve({ tabId, requestId, afterRequestId, request, epoch, latestStartMs }: AskMessage): Promise<void> {
    const { answered, begun } = this;
    const { send, nowMs } = this.options;
    if (epoch !== this.epoch || nowMs() > latestStartMs || begun.has(requestId)) return;
    if (afterRequestId !== null && !answered.has(afterRequestId) && !begun.has(afterRequestId)) return;
    const refusal = answered.refusalOf(requestId);
    if (refusal !== null) return send(tabId, { kind: 'refused', requestId, error: refusal });
    begun.add(requestId);
    try {
      const answer = await this.carryOut(requestId, request);
      if (request.kind === 'write') answered.add(requestId, null, latestStartMs);
      send(tabId, { kind: 'answer', requestId, answer });
    } catch (thrown) {
      const error = encodeError(thrown);
      if (request.kind === 'write') answered.add(requestId, error, latestStartMs);
      send(tabId, { kind: 'refused', requestId, error });
    } finally {
      begun.delete(requestId);
    }
  }

  announce(): void {
    const { tabId, schema, sharesFiles } = this.options;
    this.options.post({ kind: 'leader', tabId, ...this.position, schema, status: this.status, sharesFiles });
  }

  /** Commits were undone: what the work remembers of the database may not be so any more. */
  async startAnew(): Promise<void> {
    const before = this.work;
    this.work = this.startWork();
    await before.stop();
  }

  stop(): Promise<void> {
    return this.work.stop();
  }

  private startWork(): LeaderWork {
    const { opened, startWork } = this.options;
    const { database, committed } = opened;
    return startWork({
      database,
      ...(committed === undefined ? {} : { committed }),
      publishCommit: (tables) => this.publishCommit(tables),
      publishStatus: (status) => this.publishStatus(status),
      publishProblem: this.options.onProblem,
    });
  }

  private publishCommit(tables: readonly string[]): void {
    const { committed } = this.options.opened;
    if (committed === undefined) return this.tellCommit(tables);
    committed().then(
      () => this.tellCommit(tables),
      () => undefined, // It is undone, so there is nothing to tell.
    );
  }

  private tellCommit(tables: readonly string[]): void {
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

function callReads(reads: Reads, { method, args }: ReadWork): Promise<unknown> {
  return (reads[method] as (...given: readonly unknown[]) => Promise<unknown>)(...args);
}
