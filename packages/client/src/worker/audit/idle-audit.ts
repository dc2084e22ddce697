import {
  auditRangeCount,
  RockpoolError,
  TableFingerprint,
  type Audit,
  type AuditAnswer,
  type TableSchema,
} from '@rockpool/shared';
import type { AuditDatabase } from './audit-database.ts';

/*
 * Compares this replica with the server's during idle time:
 *
 *   resting ── quiet, and due ──► reading tables ──► asked ── all equal ──► resting
 *                                       ▲              └── some differ ──► reading those in ranges ──► asked ──► repaired ─┐
 *                                       └───────────────────────────────── again ◄─────────────────────────────────────────┘
 *
 * Reading starts over when anything is committed meanwhile, because the fingerprints belong to one cursor.
 */

export interface AuditTimes {
  /**
   * Time without commits and deliveries before an audit starts, so that an audit delays nothing else in this worker.
   */
  readonly quietMs: number;
  /** Time until a replica without differences is compared again, so that a later divergence is found as well. */
  readonly intervalMs: number;
}

export const AUDIT_TIMES: AuditTimes = { quietMs: 20_000, intervalMs: 60 * 60 * 1000 };

/**
 * Deadline for the server's response. The server fingerprints tables in slices, between which it does other work. A
 * missed deadline is reported and ends the connection, at most once per interval.
 */
export const ANSWER_DEADLINE_MS = 60_000;

/**
 * The number of consecutive responses without a comparison after which the audit waits a whole interval. If the log
 * grew meanwhile, an audit a little later succeeds. But if the server never compares, for example because it has a
 * different schema, the client would read every row repeatedly, without result.
 */
const MAX_UNCOMPARED = 3;

/**
 * The number of consecutive repairs after which the audit waits for an interval: a further repair would not help
 * either.
 */
const MAX_REPAIRS = 8;

export interface IdleAuditOptions {
  readonly database: AuditDatabase;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  readonly times: AuditTimes;
  readonly send: (message: Audit) => void;
  /** Runs a job that reads, now or after the open transaction of a tab. */
  readonly inTurn: (job: () => void) => void;
  /** Rows were repaired. The error names the table and the number of rows. */
  readonly onDiverged: (error: RockpoolError) => void;
  /** Rows still differ after MAX_REPAIRS repairs. */
  readonly onUnrepaired: (error: RockpoolError) => void;
  /** A local failure, or `network-unreachable` if the server sent no response. */
  readonly onFailed: (thrown: unknown) => void;
}

/** An audit that was sent: the requested ranges and the rows read, by table id. */
interface SentAudit {
  readonly rangeCounts: ReadonlyMap<number, number>;
  readonly rowCounts: ReadonlyMap<number, number>;
  readonly cursor: number;
}

export class IdleAudit {
  private readonly options: IdleAuditOptions;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts scheduled jobs. A job that was replaced while it waited in `inTurn` does nothing. */
  private latestJob = 0;
  private asked: SentAudit | null = null;
  private isRunning = false;
  /** Survives reconnects: a flaky network is no reason to audit more often. */
  private dueMs: number;
  private repairs = 0;
  private uncompared = 0;

  constructor(options: IdleAuditOptions) {
    this.options = options;
    this.dueMs = options.nowMs();
  }

  /** Call when the connection is live and this replica has caught up. */
  start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    this.repairs = 0;
    this.waitUntilQuiet();
  }

  /**
   * Call after every commit and delivery, and while a long message is sent or received, behind which an audit would
   * wait: the quiet time starts over.
   */
  postpone(): void {
    if (this.isRunning && this.asked === null) this.waitUntilQuiet();
  }

  /** Throws `frame-unexpected` for a response to a different audit. */
  handleAnswer(answer: AuditAnswer): void {
    if (this.asked === null || answer.cursor !== this.asked.cursor)
      throw new RockpoolError('frame-unexpected', {
        problem: 'the audit was not requested',
      });
    const { rangeCounts, rowCounts, cursor } = this.asked;
    if (answer.compared) this.uncompared = 0;
    else if (++this.uncompared >= MAX_UNCOMPARED) {
      this.uncompared = 0;
      this.dueMs = this.nextDueMs();
    }
    if (!answer.compared || this.options.database.cursor !== cursor) return this.restUntil(this.dueMs);
    if (answer.differing.every(({ ranges }) => ranges.length === 0)) this.readDiffering(answer, rowCounts);
    else this.repair(answer, rangeCounts);
  }

  /** Call when the connection ends. */
  stop(): void {
    this.isRunning = false;
    this.asked = null;
    this.latestJob++;
    clearTimeout(this.timer);
  }

  private schedule(delayMs: number, work: () => void): void {
    clearTimeout(this.timer);
    const job = ++this.latestJob;
    const run = (): void => {
      if (job !== this.latestJob) return;
      try {
        work();
      } catch (thrown) {
        this.options.onFailed(thrown);
      }
    };
    this.timer = setTimeout(() => this.options.inTurn(run), delayMs);
  }

  private nextDueMs(): number {
    return this.options.nowMs() + this.options.times.intervalMs;
  }

  private restUntil(dueMs: number): void {
    this.asked = null;
    this.dueMs = dueMs;
    this.waitUntilQuiet();
  }

  private waitUntilQuiet(): void {
    const { nowMs, times } = this.options;
    this.schedule(Math.max(times.quietMs, this.dueMs - nowMs()), () => this.readAllTables());
  }

  private readAllTables(): void {
    this.read(new Map(this.options.database.tables.map(({ id }) => [id, 1])));
  }

  /** Fingerprints these tables, each in the given number of ranges, one slice at a time, then sends the audit. */
  private read(rangeCounts: ReadonlyMap<number, number>): void {
    const { database, send } = this.options;
    const { cursor } = database;
    const fingerprints = new Map<number, TableFingerprint>();
    const slices = fingerprintSlices(
      database,
      database.tables.filter(({ id }) => rangeCounts.has(id)),
      (table) => {
        const fingerprint = new TableFingerprint(table, rangeCounts.get(table.id));
        fingerprints.set(table.id, fingerprint);
        return fingerprint;
      },
    );
    const readNext = (): void => {
      if (slices.next().done !== true) return this.schedule(0, readNext);
      const rowCounts = new Map([...fingerprints].map(([id, { rowCount }]) => [id, rowCount]));
      this.asked = { cursor, rangeCounts, rowCounts };
      const tables = [...fingerprints].map(([tableId, { sums }]) => ({ tableId, sums: [...sums] }));
      send({ type: 'audit', cursor, tables });
      this.schedule(ANSWER_DEADLINE_MS, () => this.giveUp());
    };
    readNext();
  }

  private giveUp(): void {
    this.dueMs = this.nextDueMs();
    throw new RockpoolError('network-unreachable', { stage: 'audit', waitedMs: ANSWER_DEADLINE_MS });
  }

  /** Rereads the tables that differ, in ranges small enough to repair; rests if none differs. */
  private readDiffering({ differing }: AuditAnswer, rowCounts: ReadonlyMap<number, number>): void {
    if (differing.length === 0) {
      this.repairs = 0;
      return this.restUntil(this.nextDueMs());
    }
    this.asked = null;
    const rangeCounts = new Map(
      differing.map(({ tableId }) => [tableId, auditRangeCount(rowCounts.get(tableId) ?? 0)]),
    );
    this.schedule(0, () => this.read(rangeCounts));
  }

  private repair(answer: AuditAnswer, rangeCounts: ReadonlyMap<number, number>): void {
    const { database, onDiverged, onUnrepaired } = this.options;
    this.repairs++;
    for (const { table, rowCount } of database.repair(answer, rangeCounts))
      onDiverged(new RockpoolError('replica-diverged', { table, rowCount, cursor: answer.cursor }));
    if (this.repairs >= MAX_REPAIRS) {
      // `onUnrepaired` leads to a full resync. If that does not help either, the next resync must wait for the
      // interval.
      this.dueMs = this.nextDueMs();
      return onUnrepaired(new RockpoolError('replica-diverged', { repairs: this.repairs, cursor: answer.cursor }));
    }
    // Reads again at once: a response may omit differences, and the repair has to be verified.
    this.asked = null;
    this.schedule(0, () => this.readAllTables());
  }
}

/** Adds each slice of rows to its table's fingerprint, and yields after it. */
function* fingerprintSlices(
  database: AuditDatabase,
  tables: readonly TableSchema[],
  fingerprintOf: (table: TableSchema) => TableFingerprint,
): Generator<void> {
  for (const table of tables) {
    const fingerprint = fingerprintOf(table);
    for (const slice of database.serverRows(table)) {
      for (const { key, cells } of slice) fingerprint.add(key, cells);
      yield;
    }
  }
}
