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
 * Compares this replica with the server's while nothing else happens:
 *
 *   resting ── quiet for a while, and due ──► reading tables ──► asked ── all the same ──► resting
 *                                                 ▲                └── some differ ──► reading those by ranges ──► asked ──► repaired ─┐
 *                                                 └────────────────────────────────────────── once more ◄───────────────────────────────┘
 *
 * Reading starts over when anything is committed meanwhile: the numbers belong to one cursor.
 */

export interface AuditTimes {
  /** Nothing was committed or delivered for this long: nobody waits for this worker. */
  readonly quietMs: number;
  /**
   * A replica that was the same is looked at again after this: an accident that nobody noticed must not stay for ever.
   */
  readonly intervalMs: number;
}

export const AUDIT_TIMES: AuditTimes = { quietMs: 20_000, intervalMs: 60 * 60 * 1000 };

/**
 * An answer is fingerprints of tables, made in slices beside other work. Without one the connection is made anew, once
 * an interval: this must not end without a word.
 */
export const ANSWER_DEADLINE_MS = 60_000;

/**
 * A log that moves on is quiet a little later; a server that does not compare, such as one that has another schema,
 * would have every row read again and again for nothing.
 */
const MAX_UNCOMPARED = 3;

/** What differs still after so many repairs will not be mended by one more. */
const MAX_REPAIRS = 8;

export interface IdleAuditOptions {
  readonly database: AuditDatabase;
  /** Time that never goes back. */
  readonly nowMs: () => number;
  readonly times: AuditTimes;
  readonly send: (message: Audit) => void;
  /** Runs what reads: now, or when the transaction that a tab has open is over. */
  readonly inTurn: (job: () => void) => void;
  /** Rows were repaired: the error says how many of which table. */
  readonly onDiverged: (error: RockpoolError) => void;
  /** They differ still, after many repairs. */
  readonly onUnrepaired: (error: RockpoolError) => void;
  /** A failure of our own side, or no answer (`network-unreachable`). */
  readonly onFailed: (thrown: unknown) => void;
}

export interface IdleAudit {
  /** The connection is live, and what the server had is here. */
  start(): void;
  /** Something was committed or delivered. */
  disturb(): void;
  answered(answer: AuditAnswer): void;
  /** The connection has ended. */
  stop(): void;
}

export function createIdleAudit({
  database,
  nowMs,
  times,
  send,
  inTurn,
  onDiverged,
  onUnrepaired,
  onFailed,
}: IdleAuditOptions): IdleAudit {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Counts what was planned: what waits for its turn may not be wanted any more when that comes.
  let plan = 0;
  // What was asked and is not answered: how many ranges of each table.
  let asked: {
    readonly rangeCounts: ReadonlyMap<number, number>;
    readonly rowCounts: ReadonlyMap<number, number>;
    readonly cursor: number;
  } | null = null;
  let isRunning = false;
  // Kept from one connection to the next: a network that comes and goes is no reason to look more often.
  let dueMs = nowMs();
  let repairs = 0;
  let uncompared = 0;

  function after(delayMs: number, work: () => void): void {
    clearTimeout(timer);
    const mine = ++plan;
    const run = (): void => {
      if (mine !== plan) return;
      try {
        work();
      } catch (thrown) {
        onFailed(thrown);
      }
    };
    timer = setTimeout(() => inTurn(run), delayMs);
  }

  function restUntil(moment: number): void {
    asked = null;
    dueMs = moment;
    waitUntilQuiet();
  }

  function readAllTables(): void {
    read(new Map(database.tables.map(({ id }) => [id, 1])));
  }

  function waitUntilQuiet(): void {
    after(Math.max(times.quietMs, dueMs - nowMs()), readAllTables);
  }

  /** Reads these tables, in so many ranges each, a slice at a time; then asks. */
  function read(rangeCounts: ReadonlyMap<number, number>): void {
    const { cursor } = database;
    const fingerprints = new Map<number, TableFingerprint>();
    const slices = readAll(
      database,
      database.tables.filter(({ id }) => rangeCounts.has(id)),
      (table) => {
        const fingerprint = new TableFingerprint(table, rangeCounts.get(table.id));
        fingerprints.set(table.id, fingerprint);
        return fingerprint;
      },
    );
    const step = (): void => {
      if (slices.next().done !== true) return after(0, step);
      asked = {
        cursor,
        rangeCounts,
        rowCounts: new Map([...fingerprints].map(([id, { rowCount }]) => [id, rowCount])),
      };
      send({
        type: 'audit',
        cursor,
        tables: [...fingerprints].map(([tableId, { sums }]) => ({ tableId, sums: [...sums] })),
      });
      after(ANSWER_DEADLINE_MS, giveUp);
    };
    step();
  }

  function giveUp(): void {
    dueMs = nowMs() + times.intervalMs;
    throw new RockpoolError('network-unreachable', { stage: 'audit', waitedMs: ANSWER_DEADLINE_MS });
  }

  function compared({ differing }: AuditAnswer, rowCounts: ReadonlyMap<number, number>): void {
    if (differing.length === 0) {
      repairs = 0;
      return restUntil(nowMs() + times.intervalMs);
    }
    asked = null;
    after(0, () =>
      read(new Map(differing.map(({ tableId }) => [tableId, auditRangeCount(rowCounts.get(tableId) ?? 0)]))),
    );
  }

  function repair(answer: AuditAnswer, rangeCounts: ReadonlyMap<number, number>): void {
    repairs++;
    for (const { table, rowCount } of database.repair(answer, rangeCounts))
      onDiverged(new RockpoolError('replica-diverged', { table, rowCount, cursor: answer.cursor }));
    // Once more at once: there may be more than one answer carries, and what was repaired is to be seen.
    if (repairs >= MAX_REPAIRS) {
      // What a reload does not mend either must not be loaded anew at every quiet moment.
      dueMs = nowMs() + times.intervalMs;
      return onUnrepaired(new RockpoolError('replica-diverged', { repairs, cursor: answer.cursor }));
    }
    asked = null;
    after(0, readAllTables);
  }

  return {
    start() {
      if (isRunning) return;
      isRunning = true;
      repairs = 0;
      waitUntilQuiet();
    },
    disturb() {
      if (isRunning && asked === null) waitUntilQuiet();
    },
    answered(answer) {
      if (asked === null || answer.cursor !== asked.cursor)
        throw new RockpoolError('frame-unexpected', { problem: 'an audit answer to no audit' });
      const { rangeCounts, rowCounts, cursor } = asked;
      if (answer.compared) uncompared = 0;
      else if (++uncompared >= MAX_UNCOMPARED) {
        uncompared = 0;
        dueMs = nowMs() + times.intervalMs;
      }
      if (!answer.compared || database.cursor !== cursor) return restUntil(dueMs);
      if (answer.differing.every(({ ranges }) => ranges.length === 0)) compared(answer, rowCounts);
      else repair(answer, rangeCounts);
    },
    stop() {
      isRunning = false;
      asked = null;
      plan++;
      clearTimeout(timer);
    },
  };
}

function* readAll(
  database: AuditDatabase,
  tables: readonly TableSchema[],
  fingerprintOf: (table: TableSchema) => TableFingerprint,
): Generator<void> {
  for (const table of tables) {
    const fingerprint = fingerprintOf(table);
    for (const slice of database.baseRows(table)) {
      for (const { key, cells } of slice) fingerprint.add(key, cells);
      yield;
    }
  }
}
