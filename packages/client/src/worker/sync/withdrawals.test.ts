import { buildSchema, FIRST_PREVIOUS_HASH, type Welcome } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { account, entry, openInMemory } from '../../../testing/worker/test-database.ts';
import {
  admitted,
  testDelivery,
  testEpoch,
  testGroup,
  testSync,
  testWelcome,
} from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { updatedAndDeleted } from '../../../testing/worker/updated-and-deleted.ts';
import type { OpenDatabase } from '../database/open-database.ts';

let requests = 0;

function write(database: OpenDatabase, ...statements: readonly string[]): string {
  const id = `w${++requests}`;
  database.write({ id, statements: statements.map((sql) => ({ sql, params: [] })) });
  return id;
}

const rows = (database: OpenDatabase, sql = 'SELECT id, amount FROM account ORDER BY id'): unknown[][] =>
  database.connection.rows(sql);
const waitingIds = (database: OpenDatabase): string[] => database.listWaiting(100).map(({ id }) => id);
const rejections = (database: OpenDatabase): unknown[] =>
  database.listRejected().map(({ sequence, reason, decided }) => [sequence, reason.code, decided]);
const isHidden = (database: OpenDatabase): boolean =>
  database.connection.value('SELECT count(*) FROM rockpool_base') === 0;

/** Accounts a to e, inserted by changesets 1 to 5 with stamps in this order; 1 and 2 are decided. */
function fiveWritten(): { database: OpenDatabase; sync: ReturnType<typeof testSync>; ids: string[] } {
  const database = openInMemory();
  const sync = testSync(database);
  for (const id of ['a', 'b', 'c', 'd', 'e']) write(database, `INSERT INTO account (id, amount) VALUES ('${id}', 1)`);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 2, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
  return { database, sync, ids: waitingIds(database) };
}

const welcomeAt = (database: OpenDatabase, lastAckedSequence: number): Welcome =>
  testWelcome({
    lastAckedSequence,
    decidedHash: lastAckedSequence === 0 ? FIRST_PREVIOUS_HASH : database.changelog.hashOf(lastAckedSequence),
  });

/** The welcome of a server that has decided as far as this sequence, and what follows from it. */
function decide(database: OpenDatabase, sync: ReturnType<typeof testSync>, upTo: number): void {
  const verdict = sync.greet(welcomeAt(database, upTo));
  expect(verdict).toEqual({ kind: 'new-site', firstOwn: upTo + 1 });
  sync.becomeNewSite(upTo + 1);
}

describe('a withdrawn changeset', () => {
  it('disappears from the tables and the outbox, and is listed as rejected but undecided', () => {
    const { database, sync, ids } = fiveWritten();
    expect(sync.withdrawals.areUndecided).toBe(false);
    expect([...(sync.withdrawals.withdraw(ids[1] as string) ?? [])]).toEqual(['account']);
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'c', 1, 'e', 1]);
    expect(rejections(database)).toEqual([[4, 'changeset-withdrawn', false]]);
    expect(waitingIds(database)).toEqual([ids[0], ids[2]]);
    expect(sync.withdrawals).toMatchObject({ asksServer: true, areUndecided: true });
    expect(() => database.retryRejected(4)).toThrow(expect.objectContaining({ code: 'changeset-undecided' }));
    database.close();
  });

  it('leaves the outbox under a new site id if the server does not have it', () => {
    const { database, sync, ids } = fiveWritten();
    const { siteId } = database;
    const hash = database.changelog.hashOf(5);
    sync.withdrawals.withdraw(ids[1] as string);
    decide(database, sync, 2);
    expect(database.siteId).not.toEqual(siteId);
    expect(sync.withdrawals).toMatchObject({ areUndecided: false, asksServer: false });
    expect(rejections(database)).toEqual([[-1, 'changeset-withdrawn', true]]);
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'c', 1, 'e', 1]);
    expect(waitingIds(database)).toEqual([ids[0], ids[2]]);
    const push = sync.nextPush(0, 1e9);
    expect(push?.changesets.map(({ sequence, origin }) => [sequence, origin?.sequence])).toEqual([
      [1, 3],
      [2, 5],
    ]);
    expect(push?.changesets[1]?.origin).toEqual({ siteId, sequence: 5, hash });
    sync.greet(testWelcome({ lastAckedSequence: 0 }));
    sync.applyDelivery(testDelivery({ from: 2, to: 4, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'c', 1, 'e', 1]);
    expect(isHidden(database)).toBe(true);
    database.close();
  });

  it('counts as the original if the user retries it', () => {
    const { database, sync, ids } = fiveWritten();
    const origin = { siteId: database.siteId, sequence: 4, hash: database.changelog.hashOf(4) };
    sync.withdrawals.withdraw(ids[1] as string);
    decide(database, sync, 2);
    database.retryRejected(-1);
    expect(sync.nextPush(2, 1e9)?.changesets).toMatchObject([{ sequence: 3, origin }]);
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'c', 1, 'd', 1, 'e', 1]);
    expect(database.listRejected()).toEqual([]);
    database.close();
  });

  it.each([
    ['an insert', "INSERT INTO account (id, amount) VALUES ('x', 7)"],
    ['an update', "UPDATE account SET amount = 7 WHERE id = 'a'"],
    ['a delete', "DELETE FROM account WHERE id = 'a'"],
  ])(
    'waits for the full resync of a new site before it can be retried, because the rows show it until then: %s',
    (_, sql) => {
      const database = openInMemory();
      const sync = testSync(database);
      write(database, "INSERT INTO account (id, amount) VALUES ('a', 1)");
      sync.greet(testWelcome());
      sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
      write(database, sql);
      const written = rows(database);
      sync.becomeNewSite(1); // The server was restored, and lacks both.
      sync.withdrawals.withdraw(waitingIds(database)[1] as string);
      decide(database, sync, 0);
      expect(rows(database)).toEqual(written);
      expect(rejections(database)).toEqual([[-1, 'changeset-withdrawn', false]]);
      expect(() => database.retryRejected(-1)).toThrow(expect.objectContaining({ code: 'changeset-undecided' }));
      sync.applyDelivery(testDelivery({ whole: true, to: 1 }));
      expect(rows(database).flat()).toEqual(['a', 1]);
      expect(rejections(database)).toEqual([[-1, 'changeset-withdrawn', true]]);
      database.retryRejected(-1);
      expect(rows(database)).toEqual(written);
      expect(sync.nextPush(0, 1e9)?.changesets).toHaveLength(2);
      database.close();
    },
  );

  it('stays in effect if the server had it already, because its outcome was lost or on the way', () => {
    const { database, sync, ids } = fiveWritten();
    const { siteId } = database;
    sync.withdrawals.withdraw(ids[1] as string);
    expect(sync.greet(welcomeAt(database, 4))).toEqual({ kind: 'fits' });
    expect(sync.withdrawals.areUndecided).toBe(true);
    sync.applyDelivery(testDelivery({ from: 2, to: 4, lastAckedSequence: 4, outcomes: admitted(3, 4) }));
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'c', 1, 'd', 1, 'e', 1]);
    expect(database.listRejected()).toEqual([]);
    expect(sync.withdrawals.areUndecided).toBe(false);
    expect(database.siteId).toEqual(siteId);
    expect(isHidden(database)).toBe(true);
    database.close();
  });

  it('keeps the reason of the server if the server had rejected it already', () => {
    const { database, sync, ids } = fiveWritten();
    sync.withdrawals.withdraw(ids[1] as string);
    sync.greet(welcomeAt(database, 4));
    const rejection = { sequence: 4, kind: 'rejected', code: 'constraint-check', fields: {} } as const;
    sync.applyDelivery(
      testDelivery({ from: 2, to: 4, lastAckedSequence: 4, outcomes: [...admitted(3, 3), rejection] }),
    );
    expect(rejections(database)).toEqual([[4, 'constraint-check', true]]);
    expect(sync.withdrawals.areUndecided).toBe(false);
    database.close();
  });

  it('waits for the outcomes of the changesets before it', () => {
    const { database, sync, ids } = fiveWritten();
    sync.withdrawals.withdraw(ids[1] as string);
    expect(sync.greet(welcomeAt(database, 3))).toEqual({ kind: 'outcomes-first' });
    const rejection = { sequence: 3, kind: 'rejected', code: 'constraint-check', fields: {} } as const;
    sync.applyDelivery(testDelivery({ from: 2, to: 3, lastAckedSequence: 3, outcomes: [rejection] }));
    sync.becomeNewSite(4);
    expect(rejections(database)).toEqual([
      [-2, 'constraint-check', true],
      [-1, 'changeset-withdrawn', true],
    ]);
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'e', 1]);
    expect(sync.nextPush(0, 1e9)?.changesets.map(({ origin }) => origin?.sequence)).toEqual([5]);
    database.close();
  });

  it('stays hidden beneath deliveries and full resyncs until the server has decided', () => {
    const { database, sync, ids } = fiveWritten();
    sync.withdrawals.withdraw(ids[1] as string);
    write(database, "INSERT INTO account (id, amount) VALUES ('f', 1)");
    sync.applyDelivery(
      testDelivery({
        from: 2,
        to: 3,
        lastAckedSequence: 2,
        groups: [testGroup('update', account, [{ id: 'a', amount: 9n }])],
      }),
    );
    expect(rows(database).flat()).toEqual(['a', 9, 'b', 1, 'c', 1, 'e', 1, 'f', 1]);
    const whole = [testGroup('insert', account, [{ id: 'a', amount: 7n }])];
    sync.applyDelivery(testDelivery({ whole: true, to: 5, lastAckedSequence: 2, groups: whole }));
    expect(rows(database).flat()).toEqual(['a', 7, 'c', 1, 'e', 1, 'f', 1]);
    expect(rejections(database)).toEqual([[4, 'changeset-withdrawn', false]]);
    // A new worker reads the same from the file.
    const later = testSync(database);
    expect(later.withdrawals.areUndecided).toBe(true);
    decide(database, later, 2);
    expect(rows(database).flat()).toEqual(['a', 7, 'c', 1, 'e', 1, 'f', 1]);
    database.close();
  });

  it('keeps later changes of its rows from showing: the server decides them', () => {
    const { database, sync, ids } = fiveWritten();
    write(database, "UPDATE account SET amount = 5 WHERE id = 'd'");
    write(database, "INSERT INTO entry (id, account_id) VALUES ('e1', 'd')");
    sync.withdrawals.withdraw(ids[1] as string);
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'c', 1, 'e', 1]);
    decide(database, sync, 2);
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'c', 1, 'e', 1]);
    // The server decides both, so that neither is lost without a trace.
    expect(sync.nextPush(0, 1e9)?.changesets.map(({ origin }) => origin?.sequence)).toEqual([3, 5, 6, 7]);
    expect(entry.foreignKeys).toHaveLength(1);
    database.close();
  });

  it('uncovers the value below it, and lets later values stand', () => {
    const { database, sync } = fiveWritten();
    write(database, "UPDATE account SET amount = 5 WHERE id = 'a'");
    write(database, "UPDATE account SET amount = 6 WHERE id = 'b'");
    write(database, "UPDATE account SET amount = 7 WHERE id = 'b'");
    const [, , , first, second] = waitingIds(database);
    sync.withdrawals.withdraw(first as string);
    sync.withdrawals.withdraw(second as string);
    expect(rows(database, "SELECT id, amount FROM account WHERE id < 'c' ORDER BY id").flat()).toEqual([
      'a',
      1,
      'b',
      7,
    ]);
    decide(database, sync, 2);
    expect(rejections(database)).toEqual([
      [-2, 'changeset-withdrawn', true],
      [-1, 'changeset-withdrawn', true],
    ]);
    expect(rows(database, "SELECT id, amount FROM account WHERE id < 'c' ORDER BY id").flat()).toEqual([
      'a',
      1,
      'b',
      7,
    ]);
    database.close();
  });

  it('may have been masked by a constraint before', () => {
    const { database, sync } = fiveWritten();
    write(database, "UPDATE account SET name = 'x' WHERE id = 'a'");
    const id = waitingIds(database).at(-1) as string;
    sync.applyDelivery(
      testDelivery({
        from: 2,
        to: 3,
        lastAckedSequence: 2,
        groups: [testGroup('update', account, [{ id: 'b', name: 'x' }])],
      }),
    );
    expect(rejections(database)).toEqual([[6, 'constraint-unique', false]]);
    sync.withdrawals.withdraw(id);
    expect(rejections(database)).toEqual([[6, 'changeset-withdrawn', false]]);
    decide(database, sync, 2);
    expect(rejections(database)).toEqual([[-1, 'changeset-withdrawn', true]]);
    database.close();
  });

  it('can be withdrawn again without effect, before and after the decision, but not after an outcome', () => {
    const { database, sync, ids } = fiveWritten();
    const [, id] = ids as [string, string];
    sync.withdrawals.withdraw(id);
    expect(sync.withdrawals.withdraw(id)).toEqual(new Set());
    decide(database, sync, 2);
    expect(sync.withdrawals.withdraw(id)).toEqual(new Set());
    expect(sync.withdrawals.areUndecided).toBe(false);
    // The changesets that stayed have the same ids as before.
    expect(waitingIds(database)).toEqual([ids[0], ids[2]]);
    expect(sync.withdrawals.withdraw('1')).toBe(null);
    sync.greet(testWelcome());
    sync.applyDelivery(testDelivery({ from: 2, to: 4, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
    expect(sync.withdrawals.withdraw(ids[0] as string)).toBe(null);
    database.close();
  });

  it('is rejected for the author of the write', () => {
    const database = openInMemory();
    const sync = testSync(database);
    const request = write(database, "INSERT INTO account (id) VALUES ('a')");
    sync.withdrawals.withdraw(waitingIds(database)[0] as string);
    expect(database.writeStates([request])).toEqual([{ state: 'pending' }]);
    decide(database, sync, 0);
    expect(database.writeStates([request])).toMatchObject([
      { state: 'rejected', error: { code: 'changeset-withdrawn' } },
    ]);
    database.close();
  });
});

/** As in `updatedAndDeleted`; the update of b is pending. */
function updatedAgain(): ReturnType<typeof updatedAndDeleted> {
  const { database, sync } = updatedAndDeleted(['b', 'c']);
  write(database, "UPDATE account SET amount = 7 WHERE id = 'b'");
  expect(rows(database).flat()).toEqual(['b', 7]);
  return { database, sync };
}

describe('a changeset that is withdrawn on a new site before its full resync', () => {
  const restored = testWelcome({ logEpoch: testEpoch(2), fullResync: true });

  it('disappears with the full resync, and until then leaves the rows as they are', () => {
    const { database, sync } = updatedAgain();
    sync.greet(restored);
    sync.becomeNewSite(1);
    const [, id] = waitingIds(database) as [string, string];
    sync.withdrawals.withdraw(id);
    expect(rows(database).flat()).toEqual(['b', 7]);
    expect(rejections(database)).toEqual([[2, 'changeset-withdrawn', false]]);
    expect(sync.withdrawals).toMatchObject({ asksServer: true, areUndecided: true });
    expect(sync.greet(restored)).toEqual({ kind: 'new-site', firstOwn: 1 });
    sync.becomeNewSite(1);
    expect(rows(database).flat()).toEqual(['b', 7]);
    expect(rejections(database)).toEqual([[-1, 'changeset-withdrawn', false]]);
    expect(sync.greet(restored)).toEqual({ kind: 'fits' });
    const there = ['b', 'c'].map((key) => ({ id: key, name: key, amount: 1n }));
    sync.applyDelivery(testDelivery({ whole: true, to: 1, groups: [testGroup('insert', account, there)] }));
    expect(rows(database).flat()).toEqual(['b', 1, 'c', 5]);
    expect(rejections(database)).toEqual([[-1, 'changeset-withdrawn', true]]);
    expect(sync.nextPush(0, 1e9)?.changesets).toHaveLength(1);
    database.close();
  });

  it('leaves the rows as they are if changesets of an earlier site are sent again', () => {
    const { database, sync } = updatedAgain();
    sync.becomeNewSite(2);
    expect(sync.greet(restored)).toEqual({ kind: 'new-site', firstOwn: 1 });
    sync.becomeNewSite(1);
    const [, id] = waitingIds(database) as [string, string];
    sync.withdrawals.withdraw(id);
    expect(rows(database).flat()).toEqual(['b', 7]);
    expect(sync.position().fullResync).toBe(true);
    database.close();
  });
});

it('a withdrawn changeset no longer counts in counters', () => {
  const tally = testTable(
    'tally',
    { id: 'text not null', hits: 'integer not null' },
    { merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [], documents: [] } },
  );
  const database = openInMemory({ schema: buildSchema([tally]) });
  const sync = testSync(database);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 1, groups: [testGroup('insert', tally, [{ id: 't', hits: 10n }])] }));
  for (const add of [1, 20, 300]) write(database, `UPDATE tally SET hits = hits + ${add}`);
  sync.withdrawals.withdraw(waitingIds(database)[1] as string);
  expect(rows(database, 'SELECT hits FROM tally')).toEqual([[311]]);
  sync.applyDelivery(
    testDelivery({ from: 1, to: 2, groups: [testGroup('update', tally, [{ id: 't', hits: 1010n }])] }),
  );
  expect(rows(database, 'SELECT hits FROM tally')).toEqual([[1311]]);
  decide(database, sync, 0);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ from: 2, to: 4, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
  expect(rows(database, 'SELECT hits FROM tally')).toEqual([[1311]]);
  database.retryRejected(-1);
  expect(rows(database, 'SELECT hits FROM tally')).toEqual([[1331]]);
  database.close();
});
