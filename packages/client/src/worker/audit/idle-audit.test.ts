import { buildSchema, type Audit, type AuditAnswer, type RockpoolError } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PendingIndex } from '../apply/pending-index.ts';
import { syncProgress } from '../sync/sync-progress.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { toAuditDatabase } from './audit-database.ts';
import { ANSWER_DEADLINE_MS, IdleAudit } from './idle-audit.ts';

const page = testTable('page', { id: 'text not null', title: 'text' });
const TIMES = { quietMs: 20_000, intervalMs: 3_600_000 };

let sent: Audit[];
let reported: RockpoolError[];
let unrepaired: RockpoolError[];
let applied: string[];
let failures: unknown[];
let audit: IdleAudit;
/** Runs a job at once, or after the open transaction of a tab. */
let inTurn: (job: () => void) => void;
let database: OpenDatabase;

beforeEach(() => {
  vi.useFakeTimers();
  [sent, reported, unrepaired, applied, failures] = [[], [], [], [], []];
  inTurn = (job) => job();
  database = openInMemory({ schema: buildSchema([page]) });
  audit = new IdleAudit({
    database: toAuditDatabase({
      database,
      pending: new PendingIndex(),
      progress: syncProgress(database, () => 0),
      onApplied: (touched) => void applied.push(...touched),
    }),
    nowMs: () => Date.now(),
    times: TIMES,
    send: (message) => void sent.push(message),
    inTurn: (job) => inTurn(job),
    onDiverged: (error) => void reported.push(error),
    onUnrepaired: (error) => void unrepaired.push(error),
    onFailed: (thrown) => void failures.push(thrown),
  });
});

afterEach(() => {
  audit.stop();
  database.close();
  expect(failures).toEqual([]);
  vi.useRealTimers();
});

const answer = (parts: Partial<AuditAnswer> = {}): AuditAnswer => ({
  type: 'audit-answer',
  cursor: 0,
  compared: true,
  differing: [],
  groups: [],
  ...parts,
});

it('an idle audit starts after a quiet time; any activity restarts the wait', () => {
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs - 1);
  audit.postpone();
  vi.advanceTimersByTime(TIMES.quietMs - 1);
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(sent).toMatchObject([{ type: 'audit', cursor: 0, tables: [{ tableId: page.id }] }]);
});

it('an idle audit compares equal replicas again after the interval, and not before', () => {
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs + 100);
  audit.handleAnswer(answer());
  vi.advanceTimersByTime(TIMES.intervalMs - 1_000);
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(2_000);
  expect(sent).toHaveLength(2);
  expect(reported).toEqual([]);
});

it('an idle audit reports no difference if the server’s log has grown meanwhile, and is sent again after the next quiet time', () => {
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs + 100);
  audit.handleAnswer(answer({ compared: false }));
  vi.advanceTimersByTime(TIMES.quietMs + 100);
  expect(sent).toHaveLength(2);
  expect(reported).toEqual([]);
});

it('an idle audit waits for the interval after three responses without a comparison', () => {
  audit.start();
  for (let asked = 1; asked <= 3; asked++) {
    vi.advanceTimersByTime(TIMES.quietMs + 100);
    expect(sent).toHaveLength(asked);
    audit.handleAnswer(answer({ compared: false }));
  }
  vi.advanceTimersByTime(TIMES.intervalMs - 1_000);
  expect(sent).toHaveLength(3);
  vi.advanceTimersByTime(2_000);
  expect(sent).toHaveLength(4);
});

it('an idle audit rejects a response for a different watermark', () => {
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs + 100);
  expect(() => audit.handleAnswer(answer({ cursor: 3 }))).toThrow(
    expect.objectContaining({ code: 'frame-unexpected' }),
  );
});

it('an idle audit repairs and reports differing ranges, and waits for the interval after too many repairs', () => {
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs + 100);
  for (let round = 0; round < 20 && unrepaired.length === 0; round++) {
    const asksForTables = (sent.at(-1)?.tables[0]?.sums.length ?? 0) === 2 && sent.length % 2 === 1;
    audit.handleAnswer(answer({ differing: [{ tableId: page.id, ranges: asksForTables ? [] : [0] }] }));
    vi.advanceTimersByTime(100);
  }
  expect(reported.length).toBeGreaterThan(1);
  expect(reported[0]?.toData()).toMatchObject({ code: 'replica-diverged', fields: { table: 'page' } });
  expect(unrepaired.map(({ code }) => code)).toEqual(['replica-diverged']);
  // The connection ends, and the next one brings a full resync.
  audit.stop();
  sent.length = 0;
  audit.start();
  vi.advanceTimersByTime(TIMES.intervalMs - 1_000);
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(2_000);
  expect(sent).toHaveLength(1);
});

/** Answers that a table differs, and then that all of its ranges do. */
function answerDiffering(): void {
  for (const areRead of [false, true]) {
    const rangeCount = areRead ? (sent.at(-1)?.tables[0]?.sums.length ?? 0) / 2 : 0;
    const ranges = Array.from({ length: rangeCount }, (_, range) => range);
    audit.handleAnswer(answer({ differing: [{ tableId: page.id, ranges }] }));
    vi.advanceTimersByTime(100);
  }
}

it('an idle audit counts its repairs since the last comparison without differences, and starts again with each connection', () => {
  audit.start();
  for (const waitMs of [TIMES.quietMs, TIMES.intervalMs]) {
    vi.advanceTimersByTime(waitMs + 1_000);
    for (let repair = 0; repair < 7; repair++) answerDiffering();
    audit.handleAnswer(answer());
  }
  expect(unrepaired).toEqual([]);
  vi.advanceTimersByTime(TIMES.intervalMs + 1_000);
  for (let repair = 0; repair < 8; repair++) answerDiffering();
  expect(unrepaired).toHaveLength(1);
  audit.stop();
  audit.start();
  vi.advanceTimersByTime(TIMES.intervalMs + 1_000);
  answerDiffering();
  expect(unrepaired).toHaveLength(1);
});

it('an idle audit names the tables that it repairs, for live queries', () => {
  database.connection.exec("INSERT INTO page (id, title) VALUES ('ghost', 'of nobody')");
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs + 100);
  answerDiffering();
  expect(reported).toMatchObject([{ fields: { table: 'page', rowCount: 1 } }]);
  expect(applied).toEqual(['page']);
});

it('an idle audit changes no row if the differing ranges are too large for a message, and leaves the repair to a full resync', () => {
  database.connection.exec("INSERT INTO page (id, title) VALUES ('p', 'kept')");
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs + 100);
  for (let round = 0; round < 20 && unrepaired.length === 0; round++) {
    const rangeCount = (sent.at(-1)?.tables[0]?.sums.length ?? 0) / 2;
    audit.handleAnswer(answer({ differing: [{ tableId: page.id, ranges: rangeCount === 1 ? [] : [rangeCount] }] }));
    vi.advanceTimersByTime(100);
  }
  expect(unrepaired.map(({ code }) => code)).toEqual(['replica-diverged']);
  expect(reported.every(({ fields }) => fields['rowCount'] === 0)).toBe(true);
  expect(database.connection.value('SELECT title FROM page')).toBe('kept');
});

it('an idle audit that waits for the end of a transaction when the connection ends is not sent', () => {
  const waiting: (() => void)[] = [];
  inTurn = (job) => void waiting.push(job);
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs);
  expect(waiting).toHaveLength(1);
  audit.stop();
  inTurn = (job) => job();
  for (const job of waiting) job();
  vi.advanceTimersByTime(TIMES.quietMs);
  expect(sent).toEqual([]);
});

it('an unanswered idle audit is reported in time, even if commits follow', () => {
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs + 100);
  expect(sent).toHaveLength(1);
  for (let passedMs = 0; passedMs < ANSWER_DEADLINE_MS; passedMs += 10_000) {
    audit.postpone();
    vi.advanceTimersByTime(10_000);
  }
  expect(failures.splice(0)).toMatchObject([{ code: 'network-unreachable', fields: { stage: 'audit' } }]);
  expect(sent).toHaveLength(1);
});

it('an unanswered idle audit is reported, and the next is sent only after the interval, even over a new connection', () => {
  audit.start();
  vi.advanceTimersByTime(TIMES.quietMs + ANSWER_DEADLINE_MS);
  audit.postpone();
  vi.advanceTimersByTime(100);
  expect(failures.splice(0)).toMatchObject([
    { code: 'network-unreachable', fields: { stage: 'audit', waitedMs: ANSWER_DEADLINE_MS } },
  ]);
  audit.stop();
  audit.start();
  vi.advanceTimersByTime(TIMES.intervalMs - 1_000);
  expect(sent).toHaveLength(1);
  vi.advanceTimersByTime(2_000);
  expect(sent).toHaveLength(2);
  audit.handleAnswer(answer());
  vi.advanceTimersByTime(TIMES.intervalMs - 1_000);
});
