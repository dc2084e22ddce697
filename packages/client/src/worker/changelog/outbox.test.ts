import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { ADMITTED_RETENTION_MS } from './outbox.ts';

const HOUR_MS = 60 * 60 * 1000;

function withChangesets(count: number): OpenDatabase {
  const database = openInMemory();
  for (let i = 1; i <= count; i++) {
    database.write({
      id: `r${i}`,
      statements: [{ sql: 'INSERT INTO account (id, extra) VALUES (?, ?)', params: [`k${i}`, new Uint8Array(1000)] }],
    });
  }
  return database;
}

const sequencesIn = (database: OpenDatabase): unknown[] =>
  database.connection.rows('SELECT sequence FROM rockpool_changelog ORDER BY sequence').flat();

describe('the outbox', () => {
  it('returns changesets in order, up to a size but at least one', () => {
    const { outbox, changelog, close } = withChangesets(10);
    const sequencesOf = (after: number, maxBytes: number): number[] | undefined =>
      outbox.nextPush(after, maxBytes)?.changesets.map(({ sequence }) => sequence);
    expect(sequencesOf(0, 3500)).toEqual([1, 2, 3]);
    expect(sequencesOf(3, 3500)).toEqual([4, 5, 6]);
    expect(sequencesOf(9, 3500)).toEqual([10]);
    expect(sequencesOf(0, 1)).toEqual([1]);
    expect(sequencesOf(0, 1e9)).toHaveLength(10);
    expect(outbox.nextPush(10, 1e9)).toBe(null);
    expect(outbox.nextPush(3, 1)?.previousHash).toEqual(changelog.hashOf(3));
    close();
  });

  it('counts changesets without an outcome', () => {
    const { outbox, close } = withChangesets(5);
    expect([outbox.lastAckedSequence(), outbox.pendingCount()]).toEqual([0, 5]);
    outbox.markAcknowledged(3, 1000);
    expect([outbox.lastAckedSequence(), outbox.pendingCount()]).toEqual([3, 2]);
    outbox.markAcknowledged(2, 2000);
    expect(outbox.lastAckedSequence()).toBe(3);
    outbox.markAcknowledged(5, 1000 + 2 * HOUR_MS);
    expect([outbox.lastAckedSequence(), outbox.pendingCount()]).toEqual([5, 0]);
    close();
  });

  it('prunes again soon after the clock was set back', () => {
    const database = withChangesets(3);
    const { outbox } = database;
    outbox.pruneIfDue(100_000 * HOUR_MS);
    outbox.markAcknowledged(3, 0);
    outbox.pruneIfDue(ADMITTED_RETENTION_MS + 3 * HOUR_MS);
    expect(sequencesIn(database)).toEqual([3]);
    database.close();
  });

  it('sends masked changesets too, so that sequences have no gaps', () => {
    const { outbox, rejected, close } = withChangesets(5);
    outbox.markAcknowledged(2, 1000);
    rejected.add(4, { code: 'constraint-unique', fields: {}, recovery: 'ask-user', message: '' }, 1000);
    expect(outbox.nextPush(2, 1e9)?.changesets.map(({ sequence }) => sequence)).toEqual([3, 4, 5]);
    close();
  });

  it('keeps admitted changesets for seven days, and rejected ones and the last for longer', () => {
    const database = withChangesets(6);
    const { outbox, rejected, changelog } = database;
    outbox.markAcknowledged(2, 0);
    outbox.markAcknowledged(4, 2 * HOUR_MS);
    rejected.add(1, { code: 'constraint-check', fields: {}, recovery: 'ask-user', message: '' }, 0);
    outbox.prune(ADMITTED_RETENTION_MS);
    expect(sequencesIn(database)).toEqual([1, 2, 3, 4, 5, 6]);
    outbox.prune(ADMITTED_RETENTION_MS + HOUR_MS);
    expect(sequencesIn(database)).toEqual([1, 2, 3, 4, 5, 6]);
    outbox.prune(ADMITTED_RETENTION_MS + 3 * HOUR_MS);
    expect(sequencesIn(database)).toEqual([1, 4, 5, 6]);
    expect(outbox.lastAckedSequence()).toBe(4);
    outbox.markAcknowledged(6, 3 * HOUR_MS);
    outbox.prune(2 * ADMITTED_RETENTION_MS);
    expect(sequencesIn(database)).toEqual([1, 6]);
    expect(changelog.head().sequence).toBe(6);
    expect(rejected.list().map(({ changeset }) => changeset.sequence)).toEqual([1]);
    database.write({ id: 'next', statements: [{ sql: 'DELETE FROM account', params: [] }] });
    expect(changelog.head().sequence).toBe(7);
    database.close();
  });

  it('forgets a rejected changeset that the user has resolved together with its statements', () => {
    const database = withChangesets(3);
    const { outbox, rejected } = database;
    rejected.add(1, { code: 'constraint-check', fields: {}, recovery: 'ask-user', message: '' }, 0);
    outbox.markAcknowledged(3, 0);
    rejected.close(1);
    outbox.prune(ADMITTED_RETENTION_MS);
    expect(rejected.isClosed(1)).toBe(true);
    outbox.prune(ADMITTED_RETENTION_MS + 3 * HOUR_MS);
    expect(sequencesIn(database)).toEqual([3]);
    expect(rejected.isClosed(1)).toBe(false);
    database.close();
  });

  it('prunes changesets while outcomes keep arriving more than once an hour', () => {
    const database = withChangesets(400);
    const { outbox } = database;
    for (let i = 1; i <= 400; i++) outbox.markAcknowledged(i, (i * HOUR_MS) / 2);
    outbox.prune(200 * HOUR_MS);
    // The 63rd outcome is the last one from before the 32nd hour.
    expect(sequencesIn(database).slice(0, 2)).toEqual([63, 64]);
    expect(database.connection.value('SELECT count(*) FROM rockpool_decided')).toBe(170);
    outbox.prune(200 * HOUR_MS + ADMITTED_RETENTION_MS + 1);
    expect(sequencesIn(database)).toEqual([400]);
    database.close();
  });
});
