import {
  changesetHash,
  FIRST_PREVIOUS_HASH,
  MAX_EARLIER_SITES,
  RockpoolError,
  type ChangesetOrigin,
} from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { ADMITTED_RETENTION_MS } from '../changelog/outbox.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { account, openInMemory } from '../../../testing/worker/test-database.ts';
import {
  admitted,
  testDelivery,
  testEpoch,
  testGroup,
  testSync,
  testWelcome,
} from '../../../testing/worker/sync-steps.ts';
import { updatedAndDeleted } from '../../../testing/worker/updated-and-deleted.ts';
import { judgeWelcome, type OwnChangesets } from './judge-welcome.ts';

let requests = 0;

function write(database: OpenDatabase, ...statements: readonly string[]): void {
  database.write({ id: `n${++requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

const rows = (database: OpenDatabase): unknown[][] =>
  database.connection.rows('SELECT id, amount FROM account ORDER BY id');
const numbers = (database: OpenDatabase): unknown[] =>
  database.connection.rows('SELECT sequence FROM rockpool_changelog WHERE kept_ms IS NULL ORDER BY sequence').flat();
const kept = (database: OpenDatabase): unknown[] =>
  database.connection.rows('SELECT sequence FROM rockpool_changelog WHERE kept_ms IS NOT NULL ORDER BY 1').flat();

/** Changesets 1 to 5 that insert a to e; 1 and 2 are decided. */
function fiveWritten(): { database: OpenDatabase; sync: ReturnType<typeof testSync> } {
  const database = openInMemory();
  const sync = testSync(database);
  for (const id of ['a', 'b', 'c', 'd', 'e']) write(database, `INSERT INTO account (id, amount) VALUES ('${id}', 1)`);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 2, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
  return { database, sync };
}

describe('a device that becomes a new site', () => {
  it('keeps its own changesets under new numbers, and receives the others from the server as deliveries [MR-49]', () => {
    const { database, sync } = fiveWritten();
    const { siteId } = database;
    sync.becomeNewSite(4);
    expect(database.siteId).toHaveLength(16);
    expect(database.siteId).not.toEqual(siteId);
    expect(sync.siteId).toEqual(database.siteId);
    // a and b are in the server's rows; c arrives with the next delivery.
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'd', 1, 'e', 1]);
    expect(sync.position()).toMatchObject({ cursor: 2, lastAckedSequence: 0, lastSequence: 2 });
    const batch = sync.nextPush(0, 1e9);
    expect(batch?.previousHash).toEqual(FIRST_PREVIOUS_HASH);
    let hash: Uint8Array = FIRST_PREVIOUS_HASH;
    for (const changeset of batch?.changesets ?? []) {
      hash = changesetHash(hash, changeset);
      expect(database.changelog.hashOf(changeset.sequence)).toEqual(hash);
    }
    expect(batch?.changesets.map(({ sequence }) => sequence)).toEqual([1, 2]);
    write(database, "UPDATE account SET amount = 9 WHERE id = 'e'");
    sync.applyDelivery(
      testDelivery({ from: 2, to: 3, groups: [testGroup('insert', account, [{ id: 'c', amount: 1n }])] }),
    );
    sync.applyDelivery(testDelivery({ from: 3, to: 6, lastAckedSequence: 3, outcomes: admitted(1, 3) }));
    expect(rows(database)).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
      ['d', 1],
      ['e', 9],
    ]);
    expect(database.connection.value('SELECT count(*) FROM rockpool_base')).toBe(0);
    database.close();
  });

  const forgotten = expect.objectContaining({ code: 'undo-refused', fields: { problem: 'forgotten' } }) as unknown;
  const inserting = (id: string): Parameters<OpenDatabase['write']>[0] => ({
    id,
    statements: [{ sql: 'INSERT INTO account (id) VALUES (?)', params: [id] }],
  });
  const undoing = (id: string): Parameters<OpenDatabase['write']>[0] => ({
    id: `undo ${id}`,
    statements: [],
    action: { kind: 'undo', requestId: id },
  });

  it('can undo what the server admitted under an earlier site id, also after it is sent to a restored server', () => {
    const { database, sync } = fiveWritten();
    const undone = (id: string): unknown => {
      database.write(undoing(id));
      return rows(database).map(([key]) => key);
    };
    for (const id of ['f', 'g']) database.write(inserting(id));
    sync.applyDelivery(testDelivery({ from: 2, to: 7, lastAckedSequence: 7, outcomes: admitted(3, 7) }));
    database.write(inserting('h'));
    sync.becomeNewSite(8);
    expect(database.writeStates(['f', 'g', 'h'])).toMatchObject([
      { state: 'admitted' },
      { state: 'admitted' },
      { state: 'pending' },
    ]);
    expect(undone('f')).toEqual(['a', 'b', 'c', 'd', 'e', 'g', 'h']);
    sync.greet(testWelcome({ logEpoch: testEpoch(2), fullResync: true }));
    sync.becomeNewSite(1);
    expect(undone('g')).toEqual(['a', 'b', 'c', 'd', 'e', 'h']);
    expect(undone('undo g')).toEqual(['a', 'b', 'c', 'd', 'e', 'g', 'h']);
    database.close();
  });

  it('cannot undo what has left its rows until a delivery', () => {
    const { database, sync } = fiveWritten();
    database.write(inserting('f'));
    sync.becomeNewSite(7);
    expect(() => database.write(undoing('f'))).toThrow(forgotten);
    database.close();
  });

  it('does not confuse what it no longer keeps with what it keeps later', () => {
    const { database, sync } = fiveWritten();
    database.write(inserting('f'));
    sync.applyDelivery(testDelivery({ from: 2, to: 6, lastAckedSequence: 6, outcomes: admitted(3, 6) }));
    sync.becomeNewSite(7);
    database.outbox.prune(Number.MAX_SAFE_INTEGER);
    database.write(inserting('g'));
    sync.applyDelivery(testDelivery({ from: 6, to: 7, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    sync.becomeNewSite(2);
    expect(() => database.write(undoing('f'))).toThrow(forgotten);
    expect(database.writeStates(['f'])).toEqual([{ state: 'admitted' }]);
    database.write(undoing('g'));
    expect(rows(database).map(([id]) => id)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    database.close();
  });

  it('names its earlier site ids in pushes of what it wrote before the change', () => {
    const { database, sync } = fiveWritten();
    const lastOf = (sequence: number): ChangesetOrigin => ({
      siteId: database.siteId,
      sequence,
      hash: database.changelog.hashOf(sequence),
    });
    const named = (after: number): unknown => sync.nextPush(after, 1e9)?.earlierSites;
    expect(named(2)).toEqual([]);
    const first = lastOf(3);
    sync.becomeNewSite(4);
    expect(named(0)).toEqual([{ last: first, upTo: 2 }]);
    // The rows do not show c, which the earlier site sent, until a delivery brings it back.
    write(database, "INSERT INTO account (id) VALUES ('f')");
    expect(named(1)).toEqual([{ last: first, upTo: 2 }]);
    expect(named(2)).toEqual([]);
    sync.applyDelivery(testDelivery({ from: 2, to: 4, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    const second = lastOf(1);
    sync.becomeNewSite(2);
    expect(named(0)).toEqual([
      { last: first, upTo: 1 },
      { last: second, upTo: 2 },
    ]);
    expect(named(1)).toEqual([{ last: second, upTo: 2 }]);
    const third = lastOf(2);
    sync.becomeNewSite(3);
    write(database, "INSERT INTO account (id) VALUES ('g')");
    expect(named(0)).toEqual([]);
    expect(third.sequence).toBe(2);
    database.close();
  });

  it('names its earlier site id for what it writes until a full resync, if its rows stay as they are', () => {
    const { database, sync } = fiveWritten();
    const named = (after: number): unknown => sync.nextPush(after, 1e9)?.earlierSites;
    const last = { siteId: database.siteId, sequence: 3, hash: database.changelog.hashOf(3) };
    database.meta.set('wants_whole', 1);
    // A copy has sent c. The row stays, so that the next write is on top of it.
    sync.becomeNewSite(4);
    write(database, "UPDATE account SET amount = 2 WHERE id = 'c'");
    const second = { siteId: database.siteId, sequence: 1, hash: database.changelog.hashOf(1) };
    sync.becomeNewSite(2);
    write(database, "UPDATE account SET amount = 3 WHERE id = 'c'");
    sync.applyDelivery(testDelivery({ whole: true, to: 4 }));
    write(database, "INSERT INTO account (id) VALUES ('f')");
    expect(named(0)).toEqual([
      { last, upTo: 3 },
      { last: second, upTo: 3 },
    ]);
    expect(named(3)).toEqual([]);
    database.close();
  });

  it('names its earlier site id also for what it writes until the full resync from another log', () => {
    const { database, sync } = fiveWritten();
    const named = (after: number): unknown => sync.nextPush(after, 1e9)?.earlierSites;
    sync.applyDelivery(testDelivery({ from: 2, to: 5, lastAckedSequence: 5, outcomes: admitted(3, 5) }));
    const last = { siteId: database.siteId, sequence: 5, hash: database.changelog.hashOf(5) };
    // A copy has sent 1 to 5 to a restored server, and others.
    sync.greet(testWelcome({ logEpoch: testEpoch(2), fullResync: true, lastAckedSequence: 6 }));
    sync.becomeNewSite(6);
    write(database, "UPDATE account SET amount = 2 WHERE id = 'c'");
    sync.applyDelivery(testDelivery({ whole: true, to: 6 }));
    write(database, "INSERT INTO account (id) VALUES ('f')");
    expect(named(0)).toEqual([{ last, upTo: 1 }]);
    expect(named(1)).toEqual([]);
    database.close();
  });

  it('names its earlier site id also for what was written to a log that the server has lost', () => {
    const { database, sync } = fiveWritten();
    const named = (after: number): unknown => sync.nextPush(after, 1e9)?.earlierSites;
    sync.applyDelivery(testDelivery({ from: 2, to: 5, lastAckedSequence: 5, outcomes: admitted(3, 5) }));
    const last = { siteId: database.siteId, sequence: 5, hash: database.changelog.hashOf(5) };
    sync.becomeNewSite(6);
    write(database, "UPDATE account SET amount = 2 WHERE id = 'c'");
    // Its base covers what the earlier site sent.
    expect(named(0)).toEqual([]);
    sync.applyDelivery(testDelivery({ from: 5, to: 6, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    const restored = testWelcome({ logEpoch: testEpoch(2), fullResync: true });
    expect(sync.greet(restored)).toEqual({ kind: 'new-site', firstOwn: 1 });
    expect(named(0)).toEqual([{ last, upTo: 1 }]);
    sync.becomeNewSite(1);
    expect(named(0)).toEqual([{ last, upTo: 6 }]);
    sync.applyDelivery(testDelivery({ whole: true, to: 3 }));
    write(database, "UPDATE account SET amount = 3 WHERE id = 'c'");
    expect(named(0)).toEqual([{ last, upTo: 6 }]);
    expect(named(6)).toEqual([]);
    database.close();
  });

  it('does not count what has left its rows as known to what was written to a log that the server has lost', () => {
    const { database, sync } = fiveWritten();
    sync.becomeNewSite(6); // a copy has sent 3 to 5
    write(database, "INSERT INTO account (id) VALUES ('f')");
    sync.greet(testWelcome({ logEpoch: testEpoch(2), fullResync: true }));
    expect(sync.nextPush(0, 1e9)).toMatchObject({ olderEpochUpTo: 1, earlierSites: [] });
    database.close();
  });

  it('names no earlier site if nothing was sent as that site, and at most the last sixteen', () => {
    const { database, sync } = fiveWritten();
    const never = openInMemory();
    const offline = testSync(never);
    write(never, "INSERT INTO account (id) VALUES ('a')");
    offline.becomeNewSite(1);
    expect(offline.nextPush(0, 1e9)?.earlierSites).toEqual([]);
    never.close();
    for (let change = 0; change < MAX_EARLIER_SITES + 3; change++)
      write(database, `INSERT INTO account (id) VALUES ('n${change}')`);
    // Each earlier site sends one changeset, so that something is left for the last one.
    for (let change = 0; change < MAX_EARLIER_SITES + 3; change++) sync.becomeNewSite(2);
    expect(sync.nextPush(0, 1e9)?.earlierSites).toHaveLength(MAX_EARLIER_SITES);
    database.close();
  });

  it('shows later values of the server once its own changesets are admitted', () => {
    const { database, sync } = fiveWritten();
    write(database, "UPDATE account SET amount = 5 WHERE id = 'a'");
    sync.becomeNewSite(6);
    sync.applyDelivery(testDelivery({ from: 2, to: 3, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    sync.applyDelivery(
      testDelivery({
        from: 3,
        to: 4,
        lastAckedSequence: 1,
        groups: [testGroup('update', account, [{ id: 'a', amount: 9n }])],
      }),
    );
    expect(rows(database)).toEqual([
      ['a', 9],
      ['b', 1],
    ]);
    database.close();
  });

  it('lists a changeset of its own that does not fit without those that it leaves to the other copy', () => {
    const database = openInMemory();
    const sync = testSync(database);
    sync.greet(testWelcome());
    const groups = [
      testGroup('insert', account, [
        { id: 'a', name: 'A' },
        { id: 'b', name: 'B' },
      ]),
    ];
    sync.applyDelivery(testDelivery({ to: 1, groups }));
    write(database, "UPDATE account SET name = 'C' WHERE id = 'b'");
    write(database, "UPDATE account SET name = 'B' WHERE id = 'a'");
    sync.becomeNewSite(2);
    expect(database.connection.rows('SELECT id, name FROM account ORDER BY id')).toEqual([
      ['a', 'A'],
      ['b', 'B'],
    ]);
    expect(database.rejected.list().map(({ changeset, error }) => [changeset.sequence, error.code])).toEqual([
      [1, 'constraint-unique'],
    ]);
    database.close();
  });

  /** As in `updatedAndDeleted`. The pending update of a is rejected, because another device gave b the same name. */
  function updatedAndRejected(): ReturnType<typeof updatedAndDeleted> {
    const { database, sync } = updatedAndDeleted(['a', 'b', 'c']);
    write(database, "UPDATE account SET name = 'D' WHERE id = 'a'");
    const taken = testGroup('update', account, [{ id: 'b', name: 'D' }]);
    sync.applyDelivery(testDelivery({ from: 3, to: 4, lastAckedSequence: 1, groups: [taken] }));
    expect(database.rejected.count()).toBe(1);
    return { database, sync };
  }

  it('shows the same rows after becoming a new site again before its full resync', () => {
    const { database, sync } = updatedAndRejected();
    const before = database.connection.rows('SELECT id, name, amount FROM account ORDER BY id');
    // The server was restored from a backup without the update of c, and then again.
    sync.becomeNewSite(1);
    sync.becomeNewSite(1);
    expect(database.connection.rows('SELECT id, name, amount FROM account ORDER BY id')).toEqual(before);
    expect(numbers(database)).toEqual([1, 2]);
    expect(database.rejected.count()).toBe(1);
    database.close();
  });

  it('keeps its rows until the full resync if the server has some of its changesets by then', () => {
    const { database, sync } = updatedAndRejected();
    const shown = (): unknown => database.connection.rows('SELECT id, name, amount FROM account ORDER BY id');
    write(database, "UPDATE account SET amount = 7 WHERE id = 'a'");
    const before = shown();
    const welcome = testWelcome({ logEpoch: testEpoch(2), fullResync: true });
    sync.greet(welcome);
    sync.becomeNewSite(1);
    // The server has received the update of c, and was restored again.
    sync.greet({ ...welcome, lastAckedSequence: 1 });
    sync.becomeNewSite(2);
    expect(shown()).toEqual(before);
    expect([numbers(database), database.rejected.count()]).toEqual([[1, 2], 1]);
    expect(sync.position().fullResync).toBe(true);
    const rowsThere = [
      { id: 'a', name: 'a', amount: 1n },
      { id: 'c', name: 'c', amount: 5n },
    ];
    sync.applyDelivery(testDelivery({ whole: true, to: 2, groups: [testGroup('insert', account, rowsThere)] }));
    expect(shown()).toEqual([
      ['a', 'D', 7],
      ['c', 'c', 5],
    ]);
    expect(database.rejected.count()).toBe(0);
    expect(sync.position().fullResync).toBe(false);
    // The rows of a changeset that leaves can be derived again.
    sync.becomeNewSite(2);
    expect(shown()).toEqual([
      ['a', 'a', 7],
      ['c', 'c', 5],
    ]);
    database.close();
  });

  it('names the tables from which rows are removed, for live queries', () => {
    const database = openInMemory();
    const touched: string[] = [];
    const sync = testSync(
      database,
      () => 0,
      ({ tables }) => touched.push(...tables),
    );
    for (const id of ['a', 'b']) write(database, `INSERT INTO account (id) VALUES ('${id}')`);
    sync.greet(testWelcome());
    touched.length = 0;
    sync.becomeNewSite(2);
    expect([rows(database).map(([id]) => id), touched]).toEqual([['b'], ['account']]);
    database.close();
  });

  it('numbers its next write 1 if it has no changesets of its own', () => {
    const { database, sync } = fiveWritten();
    sync.becomeNewSite(6);
    expect(numbers(database)).toEqual([]);
    expect(sync.position()).toMatchObject({ lastAckedSequence: 0, lastSequence: 0 });
    write(database, "INSERT INTO account (id) VALUES ('f')");
    expect(numbers(database)).toEqual([1]);
    database.close();
  });

  it('keeps rejected changesets for the user outside the outbox, and sends none that the user has dropped', () => {
    const { database, sync } = fiveWritten();
    const reason = { kind: 'rejected', code: 'constraint-check', fields: {} } as const;
    sync.applyDelivery(
      testDelivery({
        from: 2,
        to: 3,
        lastAckedSequence: 4,
        outcomes: [
          { ...reason, sequence: 3 },
          { ...reason, sequence: 4 },
        ],
      }),
    );
    database.rejected.close(4);
    sync.becomeNewSite(4); // the server was restored and has lost its decision about 4
    expect(numbers(database)).toEqual([-1, 1]);
    const [rejected] = database.rejected.list();
    expect(rejected?.changeset).toMatchObject({ sequence: -1, groups: [{ keys: [['c']] }] });
    expect(sync.nextPush(0, 1e9)?.changesets.map(({ sequence }) => sequence)).toEqual([1]);
    expect(database.retryRejected(-1).sequence).toBe(2);
    expect(numbers(database)).toEqual([1, 2]);
    expect(rows(database).map(([id]) => id)).toEqual(['a', 'b', 'c', 'e']);
    database.close();
  });

  it('lists rejected changesets in the order in which they were written', () => {
    const { database, sync } = fiveWritten();
    const keys = (): unknown[] => database.rejected.list().map(({ changeset }) => changeset.groups[0]?.keys[0]?.[0]);
    const reject = (...sequences: readonly number[]): void => {
      sync.applyDelivery(
        testDelivery({
          from: 2,
          to: 2,
          lastAckedSequence: sequences.at(-1) as number,
          outcomes: sequences.map((sequence) => ({ kind: 'rejected', code: 'constraint-check', fields: {}, sequence })),
        }),
      );
    };
    reject(3, 4);
    sync.becomeNewSite(5);
    expect(keys()).toEqual(['c', 'd']);
    write(database, "INSERT INTO account (id) VALUES ('f')");
    reject(1, 2);
    sync.becomeNewSite(3);
    expect(keys()).toEqual(['c', 'd', 'e', 'f']);
    expect(database.rejected.rejectedWith('constraint-check', 0)).toEqual(
      database.rejected.list().map(({ changeset }) => changeset.sequence),
    );
    database.close();
  });

  it('keeps the first site, sequence and hash of each changeset as its origin, also under a third site id', () => {
    const { database, sync } = fiveWritten();
    const { siteId } = database;
    const origins = [4, 5].map((sequence) => ({ siteId, sequence, hash: database.changelog.hashOf(sequence) }));
    expect(sync.nextPush(2, 1e9)?.changesets.map(({ origin }) => origin)).toEqual([undefined, undefined, undefined]);
    sync.becomeNewSite(4);
    expect(sync.nextPush(0, 1e9)?.changesets.map(({ origin }) => origin)).toEqual(origins);
    const second = database.siteId;
    write(database, "INSERT INTO account (id) VALUES ('f')");
    const hash = database.changelog.hashOf(3);
    sync.becomeNewSite(2);
    expect(sync.nextPush(0, 1e9)?.changesets.map(({ origin }) => origin)).toEqual([
      origins[1],
      { siteId: second, sequence: 3, hash },
    ]);
    database.close();
  });

  it('sends a retried changeset with the rejected one as its origin', () => {
    const { database, sync } = fiveWritten();
    const { siteId } = database;
    const origin = { siteId, sequence: 3, hash: database.changelog.hashOf(3) };
    sync.applyDelivery(
      testDelivery({
        from: 2,
        to: 2,
        lastAckedSequence: 3,
        outcomes: [{ kind: 'rejected', code: 'constraint-check', fields: {}, sequence: 3 }],
      }),
    );
    expect(database.retryRejected(3).sequence).toBe(6);
    expect(sync.nextPush(5, 1e9)?.changesets).toMatchObject([{ sequence: 6, origin }]);
    sync.applyDelivery(
      testDelivery({
        from: 2,
        to: 4,
        lastAckedSequence: 6,
        outcomes: [...admitted(4, 5), { kind: 'rejected', code: 'constraint-check', fields: {}, sequence: 6 }],
      }),
    );
    sync.becomeNewSite(7);
    const [rejected] = database.rejected.list();
    expect(database.retryRejected(rejected?.changeset.sequence ?? 0).sequence).toBe(1);
    expect(sync.nextPush(0, 1e9)?.changesets).toMatchObject([{ sequence: 1, origin }]);
    database.close();
  });

  it('keeps changesets that it sent under the old site id, and sends them to a server with a different log [MR-44]', () => {
    const { database, sync } = fiveWritten();
    const { siteId } = database;
    const origins = [1, 2, 4, 5].map((sequence) => ({ siteId, sequence, hash: database.changelog.hashOf(sequence) }));
    sync.becomeNewSite(4);
    const [, , fourth, fifth] = origins;
    expect(sync.nextPush(0, 1e9)?.changesets.map(({ origin }) => origin)).toEqual([fourth, fifth]);
    expect([kept(database), numbers(database)]).toEqual([
      [-3, -2, -1],
      [1, 2],
    ]);
    sync.applyDelivery(testDelivery({ from: 2, to: 5, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    // The server has them in the same log.
    expect(sync.greet(testWelcome({ lastAckedSequence: 1, decidedHash: database.changelog.hashOf(1) }))).toEqual({
      kind: 'fits',
    });
    const restored = testWelcome({ logEpoch: testEpoch(2), fullResync: true });
    expect(sync.greet(restored)).toEqual({ kind: 'new-site', firstOwn: 1 });
    sync.becomeNewSite(1);
    const batch = sync.nextPush(0, 1e9);
    expect(batch?.olderEpochUpTo).toBe(5);
    expect(batch?.changesets.map(({ origin }) => origin?.sequence)).toEqual([1, 2, 3, 4, 5]);
    expect(batch?.changesets[0]?.origin).toEqual(origins[0]);
    expect(rows(database).flat()).toEqual(['a', 1, 'b', 1, 'd', 1, 'e', 1]);
    expect(sync.greet(restored)).toEqual({ kind: 'fits' });
    sync.applyDelivery(testDelivery({ whole: true, to: 0 }));
    expect(rows(database).map(([id]) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    sync.applyDelivery(testDelivery({ to: 5, lastAckedSequence: 5, outcomes: admitted(1, 5) }));
    expect(sync.counts()).toMatchObject({ pendingCount: 0, rejectedCount: 0 });
    database.close();
  });

  it('keeps changesets that it sent under the old site id for seven days [MR-44]', () => {
    const { database, sync } = fiveWritten();
    sync.becomeNewSite(4);
    const decidedMs = database.connection.value('SELECT min(kept_ms) FROM rockpool_changelog') as number;
    database.outbox.prune(decidedMs + ADMITTED_RETENTION_MS);
    expect(kept(database)).toHaveLength(3);
    database.outbox.prune(decidedMs + ADMITTED_RETENTION_MS + 1);
    expect([kept(database), numbers(database)]).toEqual([[], [1, 2]]);
    database.close();
  });

  it('still knows which changesets belong to an earlier log epoch', () => {
    const { database, sync } = fiveWritten();
    sync.greet(
      testWelcome({
        logEpoch: testEpoch(2),
        fullResync: true,
        lastAckedSequence: 2,
        decidedHash: database.changelog.hashOf(2),
      }),
    );
    sync.applyDelivery(testDelivery({ whole: true, to: 1, lastAckedSequence: 2 }));
    write(database, "INSERT INTO account (id) VALUES ('f')");
    sync.becomeNewSite(4);
    expect(sync.nextPush(0, 1e9)).toMatchObject({
      olderEpochUpTo: 2,
      changesets: [{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }],
    });
    database.close();
  });
});

describe('a welcome', () => {
  const hash = (sequence: number): Uint8Array => new Uint8Array(16).fill(sequence);
  /** Changesets up to 9, acknowledged up to 6, pruned before 3. */
  const own: OwnChangesets = {
    lastAckedSequence: 6,
    lastSequence: 9,
    hashOf: (sequence) => (sequence >= 3 && sequence <= 9 ? hash(sequence) : null),
    firstRetained: () => 3,
    hasResolvedAfter: () => false,
  };
  const welcome = (
    lastAckedSequence: number,
    decidedHash = hash(lastAckedSequence),
    fullResync = false,
  ): Parameters<typeof judgeWelcome>[0] => ({ lastAckedSequence, decidedHash, fullResync });

  it('is accepted if the server has decided all sent changesets, or fewer because it was restored', () => {
    expect(judgeWelcome(welcome(6), own)).toEqual({ kind: 'fits' });
    expect(judgeWelcome(welcome(9), own)).toEqual({ kind: 'fits' });
    expect(judgeWelcome(welcome(4, hash(4), true), own)).toEqual({ kind: 'fits' });
    expect(
      judgeWelcome(welcome(0, FIRST_PREVIOUS_HASH), { ...own, lastAckedSequence: 0, firstRetained: () => 1 }),
    ).toEqual({ kind: 'fits' });
  });

  it('reveals another copy if it acknowledges changesets that this site never wrote, or different ones', () => {
    expect(judgeWelcome(welcome(10), own)).toEqual({ kind: 'copied', pushAfter: 6 });
    expect(judgeWelcome(welcome(8, hash(1)), own)).toEqual({ kind: 'copied', pushAfter: 6 });
    expect(judgeWelcome(welcome(5, hash(1), true), own)).toEqual({ kind: 'copied', pushAfter: 3 });
    expect(judgeWelcome(welcome(10), { ...own, lastAckedSequence: 9 })).toEqual({ kind: 'new-site', firstOwn: 10 });
  });

  it('leads to a comparison of acknowledged changesets too if a copy has sent its own to a restored server', () => {
    expect(judgeWelcome(welcome(8, hash(1), true), own)).toEqual({ kind: 'copied', pushAfter: 3 });
    expect(judgeWelcome(welcome(10, hash(1), true), { ...own, lastAckedSequence: 9 })).toEqual({
      kind: 'copied',
      pushAfter: 3,
    });
  });

  it('makes the device a new site at once if it has no changeset to compare, even before a full resync', () => {
    // A power cut can delete the whole database of a device without strict durability, but not change its site id.
    const emptied = { ...own, lastAckedSequence: 0, lastSequence: 0, firstRetained: () => 1, hashOf: () => null };
    for (const fullResync of [false, true])
      expect(judgeWelcome(welcome(2, hash(2), fullResync), emptied)).toEqual({ kind: 'new-site', firstOwn: 1 });
  });

  it('makes the device a new site if the server has lost changesets that the device no longer keeps, or that the user has resolved [MR-43]', () => {
    expect(judgeWelcome(welcome(2, hash(2), true), own)).toEqual({ kind: 'new-site', firstOwn: 3 });
    expect(judgeWelcome(welcome(0, FIRST_PREVIOUS_HASH, true), own)).toEqual({ kind: 'new-site', firstOwn: 3 });
    expect(judgeWelcome(welcome(4, hash(4), true), { ...own, hasResolvedAfter: (sequence) => sequence < 5 })).toEqual({
      kind: 'new-site',
      firstOwn: 5,
    });
  });

  it('is compared with the changesets in the database', () => {
    const { database, sync } = fiveWritten();
    expect(sync.greet(testWelcome({ lastAckedSequence: 4, decidedHash: database.changelog.hashOf(4) }))).toEqual({
      kind: 'fits',
    });
    expect(sync.greet(testWelcome({ lastAckedSequence: 7, decidedHash: hash(7) }))).toEqual({
      kind: 'copied',
      pushAfter: 2,
    });
    database.connection.exec('DELETE FROM rockpool_changelog WHERE sequence = 1');
    expect(sync.greet(testWelcome({ fullResync: true }))).toEqual({ kind: 'new-site', firstOwn: 2 });
    expect(database.rejected.list()).toEqual([]);
    expect(new RockpoolError('site-copied').recovery).toBe('rebase');
    database.close();
  });
});
