import { toRockpoolError, type RockpoolError } from '@rockpool/shared';
import type { Clock } from '../leader/clock.ts';
import { dependenciesAfter, mayAffect, type QueryDependencies, type Touched } from '../../rpc/query-dependencies.ts';
import type { QueryResult, Reads } from '../../rpc/reads.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import { diffTransferables } from '../../rpc/rows-diff.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { LiveQueryRuns, LiveResult, WorkerEvent } from '../../rpc/worker-api.ts';
import { diffRows, isUnchanged } from './diff-rows.ts';

export interface LiveRunnerOptions {
  readonly reads: Pick<Reads, 'queryAll' | 'dependencies'>;
  readonly clock: Clock;
  /** `transferables` are buffers in the update that this side no longer needs. */
  readonly send: (event: WorkerEvent, transferables: ArrayBuffer[]) => void;
  /** Called when a round failed unexpectedly. Later rounds continue. */
  readonly onProblem: (error: RockpoolError) => void;
}

/** Runs the live queries of this tab: initially, and after every commit that touched what they read. */
export interface LiveRunner {
  watch(queryId: number, statement: SqlStatement): void;
  unwatch(queryId: number): void;
  /** Called after a commit of any tab, or of sync. */
  touch(touched: Touched): void;
  /** The runs of each query, for the devtools. */
  runs(): LiveQueryRuns[];
}

interface Watched {
  readonly queryId: number;
  readonly statement: SqlStatement;
  /** Null if unknown: every commit then runs the query again. */
  dependencies: QueryDependencies | null;
  /**
   * The dependencies of the result on the page. While the query runs, the same as `dependencies`, because a commit may
   * occur between its reads and the report of what it read.
   */
  current: QueryDependencies | null;
  /** The rows on the page. */
  rows: EncodedRows;
  /** The error on the page, as text; null if it has rows. */
  error: string | null;
  hasResult: boolean;
  isDue: boolean;
  runCount: number;
  lastRunAtMs: number | null;
  lastRunMs: number | null;
}

interface LiveUpdate {
  readonly result: LiveResult;
  readonly transferables: readonly ArrayBuffer[];
}

/**
 * The longest pause between two rounds, and the pause after a failed one. A round may have taken long because the
 * device slept, not because of its queries.
 */
const LONGEST_REST_MS = 1_000;

const NO_ROWS: EncodedRows = { names: [], columns: [], rowCount: 0 };

export function createLiveRunner(options: LiveRunnerOptions): LiveRunner {
  return new Runner(options);
}

class Runner implements LiveRunner {
  private readonly options: LiveRunnerOptions;
  private readonly watchedById = new Map<number, Watched>();
  private isPlanned = false;
  private restUntilMs = 0;
  /** Counts possible schema changes: dependencies read under a lower number may be outdated. */
  private schemaNumber = 0;

  constructor(options: LiveRunnerOptions) {
    this.options = options;
  }

  watch(queryId: number, statement: SqlStatement): void {
    this.watchedById.set(queryId, {
      queryId,
      statement,
      dependencies: null,
      current: null,
      rows: NO_ROWS,
      error: null,
      hasResult: false,
      isDue: true,
      runCount: 0,
      lastRunAtMs: null,
      lastRunMs: null,
    });
    this.plan();
  }

  unwatch(queryId: number): void {
    this.watchedById.delete(queryId);
  }

  touch(touched: Touched): void {
    if (touched === 'all') this.schemaNumber++;
    for (const watched of this.watchedById.values()) {
      // The schema itself may have changed.
      if (touched === 'all') watched.dependencies = watched.current = null;
      if (watched.current === null || mayAffect(touched, watched.current)) watched.isDue = true;
      if (watched.isDue) this.plan();
    }
  }

  runs(): LiveQueryRuns[] {
    return [...this.watchedById.values()].map(({ queryId, dependencies, runCount, lastRunAtMs, lastRunMs }) => ({
      queryId,
      dependencies,
      wakeCount: Math.max(0, runCount - 1),
      lastRunAtMs,
      lastRunMs,
    }));
  }

  /**
   * Plans one round per tick, regardless of the number of commits, and rests for as long as the last one took, so that
   * writes continue under heavy queries.
   */
  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    const { clock } = this.options;
    clock.after(Math.max(0, this.restUntilMs - clock.elapsedMs()), () => void this.runInTurn());
  }

  private async runInTurn(): Promise<void> {
    const { clock } = this.options;
    const startedMs = clock.elapsedMs();
    const hasFailed = await this.runDue().then(
      () => false,
      (thrown: unknown) => this.startOver(thrown),
    );
    const endedMs = clock.elapsedMs();
    this.restUntilMs = endedMs + (hasFailed ? LONGEST_REST_MS : Math.min(endedMs - startedMs, LONGEST_REST_MS));
    this.isPlanned = false;
    // Whether a commit arrived during this round, or the round failed.
    if ([...this.watchedById.values()].some(({ isDue }) => isDue)) this.plan();
  }

  /**
   * A failed round must not end all live queries. The rows of the page are unknown then, so the next round sends whole
   * results. Returns true.
   */
  private startOver(thrown: unknown): boolean {
    for (const watched of this.watchedById.values())
      Object.assign(watched, { rows: NO_ROWS, error: null, hasResult: false, isDue: true });
    this.options.onProblem(toRockpoolError(thrown));
    return true;
  }

  private async runDue(): Promise<void> {
    const due = [...this.watchedById.values()].filter(({ isDue }) => isDue);
    for (const watched of due) Object.assign(watched, { isDue: false, current: watched.dependencies });
    const results = await this.read(due);
    const updates = due.flatMap((watched, index) => this.take(watched, results[index] as QueryResult) ?? []);
    if (updates.length > 0)
      this.options.send(
        { kind: 'live', results: updates.map(({ result }) => result) },
        updates.flatMap(({ transferables }) => transferables),
      );
    // Runs after the rows have been sent, because a caller waits for them. Until then, every commit counts.
    await Promise.all(
      due.filter(({ dependencies }) => dependencies === null).map((watched) => this.learnDependencies(watched)),
    );
  }

  /**
   * Runs a query again that failed for a temporary reason, such as a leader that did not answer: no commit would
   * trigger it. Other queries do not wait for it.
   */
  private retryLater(watched: Watched): void {
    this.options.clock.after(LONGEST_REST_MS, () => {
      watched.isDue = true;
      this.plan();
    });
  }

  /**
   * Reads all due queries together, because each read costs more than a small query, and also a message if the leader
   * runs it.
   */
  private async read(due: readonly Watched[]): Promise<readonly QueryResult[]> {
    try {
      return await this.options.reads.queryAll(due.map(({ statement }) => statement));
    } catch (thrown) {
      const error = toRockpoolError(thrown).toData();
      return due.map(() => ({ error }));
    }
  }

  /** Running the query reports SQL that cannot be compiled. */
  private async learnDependencies(watched: Watched): Promise<void> {
    const asked = this.schemaNumber;
    const dependencies = await this.options.reads.dependencies(watched.statement).catch(() => null);
    if (dependencies === null || asked !== this.schemaNumber) return;
    const { rows, error } = watched;
    // A query that failed may have read beyond the last row of its previous result.
    const current = error === null ? dependenciesAfter(dependencies, rows) : dependencies;
    Object.assign(watched, { dependencies, current });
  }

  /**
   * Notes the run. Returns the update to send; null if the page already has the result or no longer watches the query.
   */
  private take(watched: Watched, result: QueryResult): LiveUpdate | null {
    const { queryId } = watched;
    if (this.watchedById.get(queryId) !== watched) return null;
    watched.runCount++;
    watched.lastRunAtMs = this.options.clock.nowMs();
    watched.lastRunMs = 'tookMs' in result ? result.tookMs : null;
    if ('error' in result) {
      if (result.error.recovery === 'retry') this.retryLater(watched);
      const text = JSON.stringify(result.error);
      if (watched.error === text) return null;
      watched.error = text;
      return { result: { queryId, error: result.error }, transferables: [] };
    }
    const { rows } = result;
    const diff = diffRows(watched.rows, rows);
    const isKnown = watched.hasResult && watched.error === null && isUnchanged(diff, watched.rows);
    Object.assign(watched, { rows, error: null, hasResult: true });
    if (watched.dependencies !== null) watched.current = dependenciesAfter(watched.dependencies, rows);
    // A diff that contains the whole result is copied, because the sent rows stay in this worker for comparison with
    // the next result.
    return isKnown
      ? null
      : { result: { queryId, diff }, transferables: diff.added === rows ? [] : diffTransferables(diff) };
  }
}
