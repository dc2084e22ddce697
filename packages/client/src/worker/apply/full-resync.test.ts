import {
  buildSchema,
  columnIdOf,
  CONFLICT_TABLE,
  decodeChangesetBody,
  RockpoolError,
  type CellBase,
} from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import {
  admitted,
  testDelivery,
  testEpoch,
  testGroup,
  testSync,
  testWelcome,
} from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const page = testTable(
  'page',
  { id: 'text not null', title: 'text', hits: 'integer not null default 0' },
  { uniques: [['title']], merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [], documents: [] } },
);
const note = testTable('note', { id: 'text not null', text: 'text' });
const draft = testTable('draft', { id: 'integer', text: 'text' }, { synced: false });
const schema = buildSchema([page, note, draft]);

let requests = 0;

function write(database: OpenDatabase, ...statements: readonly string[]): void {
  database.write({ id: `w${++requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

const pages = (database: OpenDatabase): unknown[][] =>
  database.connection.rows('SELECT id, title, hits FROM page ORDER BY id');

/**
 * Four changesets and a local row: everything that does not come from the server. The first two changesets are
 * acknowledged at watermark 5.
 */
function atFive(): { database: OpenDatabase; sync: ReturnType<typeof testSync> } {
  const database = openInMemory({ schema });
  const sync = testSync(database);
  write(
    database,
    "INSERT INTO page (id, title, hits) VALUES ('a', 'A', 10)",
    "INSERT INTO draft (text) VALUES ('mine')",
  );
  write(database, "UPDATE page SET hits = hits + 1 WHERE id = 'a'");
  sync.greet(testWelcome());
  sync.applyDelivery(
    testDelivery({
      to: 5,
      lastAckedSequence: 2,
      outcomes: admitted(1, 2),
      groups: [testGroup('insert', note, [{ id: 'n', text: 'deleted by the resync' }])],
    }),
  );
  write(database, "UPDATE page SET hits = hits + 2 WHERE id = 'a'");
  write(database, "INSERT INTO page (id, title) VALUES ('b', 'B')");
  return { database, sync };
}

const fullResync = (
  parts: Parameters<typeof testDelivery>[0] = {},
): Parameters<ReturnType<typeof testSync>['applyDelivery']>[0] =>
  testDelivery({
    whole: true,
    to: 90,
    lastAckedSequence: 2,
    groups: [testGroup('insert', page, [{ id: 'a', title: 'A2', hits: 50n }])],
    ...parts,
  });

/**
 * Adds to `atFive` a note that another site has also inserted, at watermark 8. The local insert covers the other site's
 * text. A later local changeset updates the note, still without having seen that text, and inserts a page.
 */
function withCoveredNote(): ReturnType<typeof atFive> {
  const { database, sync } = atFive();
  write(database, "INSERT INTO note (id, text) VALUES ('x', 'mine')");
  sync.applyDelivery(
    testDelivery({
      from: 5,
      to: 8,
      lastAckedSequence: 2,
      groups: [testGroup('insert', note, [{ id: 'x', text: 'theirs' }])],
    }),
  );
  write(
    database,
    "UPDATE note SET text = 'mine again' WHERE id = 'x'",
    "INSERT INTO page (id, title) VALUES ('c', 'C')",
  );
  return { database, sync };
}

function newestCellBases(database: OpenDatabase, sync: ReturnType<typeof testSync>): readonly CellBase[] {
  const [newest] = sync.nextPush(database.changelog.head().sequence - 1, 1e9)?.changesets ?? [];
  return decodeChangesetBody(newest?.body ?? new Uint8Array()).cellBases;
}

describe('a full resync', () => {
  it('replaces all synced rows and the conflict log, reapplies pending changesets, and keeps site, local tables and outbox [MR-33]', () => {
    const { database, sync } = atFive();
    const { siteId } = database;
    database.connection.exec(
      "INSERT INTO rockpool_conflict (id, table_name, row_key, rule, lost_by, won_by, lost_site, won_site, lost_at_ms, won_at_ms, watermark) VALUES ('old', '', '', '', '', '', '', '', 0, 0, 0)",
    );
    const conflicts = testGroup('insert', CONFLICT_TABLE, [
      {
        id: 'new',
        table_name: 'page',
        row_key: '["a"]',
        column_name: 'title',
        rule: 'lww',
        lost_value: 'x',
        won_value: 'y',
        lost_by: 'p',
        won_by: 'q',
        lost_site: '',
        won_site: '',
        lost_at_ms: 1n,
        won_at_ms: 2n,
        watermark: 3n,
      },
    ]);
    sync.applyDelivery(
      testDelivery({
        from: 5,
        to: 6,
        lastAckedSequence: 2,
        groups: [testGroup('update', page, [{ id: 'a', hits: 40n }])],
      }),
    ); // Changeset 3 covers the cell.
    sync.greet(testWelcome({ fullResync: true, lastAckedSequence: 2, decidedHash: database.changelog.hashOf(2) }));
    sync.applyDelivery(fullResync({ groups: [...fullResync().groups, conflicts] }));
    expect(pages(database)).toEqual([
      ['a', 'A2', 52],
      ['b', 'B', 0],
    ]);
    expect(database.connection.rows('SELECT id FROM note')).toEqual([]);
    expect(database.connection.rows('SELECT id FROM rockpool_conflict')).toEqual([['new']]);
    expect(database.connection.rows('SELECT text FROM draft')).toEqual([['mine']]);
    expect(database.siteId).toEqual(siteId);
    expect(sync.position()).toMatchObject({ cursor: 90, lastAckedSequence: 2, lastSequence: 4 });
    // Later deliveries apply as usual.
    sync.applyDelivery(
      testDelivery({
        from: 90,
        to: 91,
        lastAckedSequence: 3,
        outcomes: admitted(3, 3),
        groups: [testGroup('update', page, [{ id: 'a', hits: 60n }])],
      }),
    );
    expect(pages(database)[0]).toEqual(['a', 'A2', 60]);
    sync.applyDelivery(testDelivery({ from: 91, to: 92, lastAckedSequence: 4, outcomes: admitted(4, 4) }));
    expect(database.connection.value('SELECT count(*) FROM rockpool_base')).toBe(0);
    database.close();
  });

  it('makes changesets whose outcomes a restored server has lost pending again, under the new log epoch', () => {
    const { database, sync } = atFive();
    expect(
      sync.greet(
        testWelcome({
          logEpoch: testEpoch(2),
          fullResync: true,
          lastAckedSequence: 1,
          decidedHash: database.changelog.hashOf(1),
        }),
      ),
    ).toEqual({ kind: 'fits' });
    // Changesets pushed before the rows arrive belong to the old log epoch.
    expect(sync.nextPush(1, 1e9)?.olderEpochUpTo).toBe(4);
    sync.applyDelivery(
      fullResync({
        to: 1,
        lastAckedSequence: 1,
        groups: [testGroup('insert', page, [{ id: 'a', title: 'A', hits: 30n }])],
      }),
    );
    expect(pages(database)).toEqual([
      ['a', 'A', 33],
      ['b', 'B', 0],
    ]);
    expect(sync.position()).toMatchObject({ logEpoch: testEpoch(2), cursor: 1, lastAckedSequence: 1 });
    expect(sync.counts().pendingCount).toBe(3);
    write(database, "UPDATE page SET hits = hits + 100 WHERE id = 'a'");
    expect(sync.nextPush(1, 1e9)).toMatchObject({
      olderEpochUpTo: 4,
      changesets: [{ sequence: 2 }, { sequence: 3 }, { sequence: 4 }, { sequence: 5 }],
    });
    sync.applyDelivery(testDelivery({ from: 1, to: 5, lastAckedSequence: 5, outcomes: admitted(2, 5) }));
    expect(pages(database)[0]).toEqual(['a', 'A', 133]);
    expect(database.connection.value('SELECT count(*) FROM rockpool_base')).toBe(0);
    database.close();
  });

  it('changes nothing if it would resend a changeset retried since the welcome; the database becomes a new site [MR-43]', () => {
    const { database, sync } = atFive();
    const { siteId } = database;
    sync.applyDelivery(
      testDelivery({
        from: 5,
        to: 5,
        lastAckedSequence: 3,
        outcomes: [{ kind: 'rejected', sequence: 3, code: 'constraint-check', fields: {} }],
      }),
    );
    const restored = testWelcome({
      logEpoch: testEpoch(2),
      fullResync: true,
      lastAckedSequence: 2,
      decidedHash: database.changelog.hashOf(2),
    });
    expect(sync.greet(restored)).toEqual({ kind: 'fits' });
    database.retryRejected(3);
    expect(() => sync.applyDelivery(fullResync())).toThrow(
      expect.objectContaining({ code: 'site-copied', fields: expect.objectContaining({ sequence: 3 }) as object }),
    );
    expect(sync.position()).toMatchObject({ cursor: 5, lastAckedSequence: 3 });
    sync.becomeNewSite(3);
    expect(sync.siteId).not.toEqual(siteId);
    expect(sync.greet({ ...restored, lastAckedSequence: 0, decidedHash: new Uint8Array(16) })).toEqual({
      kind: 'fits',
    });
    sync.applyDelivery(fullResync({ lastAckedSequence: 0 }));
    // The addition of changeset 3 counts once, through the changeset that replaced it.
    expect(pages(database)).toEqual([
      ['a', 'A2', 52],
      ['b', 'B', 0],
    ]);
    expect(sync.nextPush(0, 1e9)?.changesets.map(({ sequence }) => sequence)).toEqual([1, 2]);
    database.close();
  });

  it('leaves no watermark of the old log epoch in later changesets', () => {
    const { database, sync } = atFive();
    sync.greet(
      testWelcome({
        logEpoch: testEpoch(2),
        fullResync: true,
        lastAckedSequence: 2,
        decidedHash: database.changelog.hashOf(2),
      }),
    );
    // All pending changesets, before the resync has arrived.
    expect(sync.nextPush(2, 1e9)?.olderEpochUpTo).toBe(4);
    sync.applyDelivery(fullResync());
    write(database, "UPDATE page SET hits = hits + 100 WHERE id = 'a'");
    const [newest] = sync.nextPush(4, 1e9)?.changesets ?? [];
    expect(newest?.base).toBe(90);
    // Changeset 3, which covers the cell, was written at watermark 5 of the old log epoch.
    expect(decodeChangesetBody(newest?.body ?? new Uint8Array()).cellBases).toEqual([
      { tableId: page.id, key: ['a'], columnId: columnIdOf('hits'), base: 0 },
    ]);
    database.close();
  });

  it('keeps the cell base of a pending write for later writes on top of it [MR-02]', () => {
    const { database, sync } = withCoveredNote();
    sync.greet(testWelcome({ fullResync: true, lastAckedSequence: 5, decidedHash: database.changelog.hashOf(5) }));
    sync.applyDelivery(
      fullResync({
        lastAckedSequence: 5,
        outcomes: admitted(3, 5),
        groups: [testGroup('insert', note, [{ id: 'x', text: 'theirs' }])],
      }),
    );
    write(database, "UPDATE note SET text = 'mine at last' WHERE id = 'x'");
    expect(newestCellBases(database, sync)).toEqual([
      { tableId: note.id, key: ['x'], columnId: columnIdOf('text'), base: 5 },
    ]);
    database.close();
  });

  it('delivers outstanding outcomes', () => {
    const { database, sync } = atFive();
    sync.greet(testWelcome({ fullResync: true, lastAckedSequence: 3, decidedHash: database.changelog.hashOf(3) }));
    sync.applyDelivery(
      fullResync({
        lastAckedSequence: 3,
        outcomes: [{ kind: 'rejected', sequence: 3, code: 'constraint-check', fields: {} }],
      }),
    );
    expect(pages(database)[0]).toEqual(['a', 'A2', 50]);
    expect(database.rejected.list().map(({ changeset, error }) => [changeset.sequence, error.code])).toEqual([
      [3, 'constraint-check'],
    ]);
    database.close();
  });

  it('masks a changeset that no longer fits, and unmasks it once it fits [MR-62]', () => {
    const { database, sync } = atFive();
    sync.greet(testWelcome({ fullResync: true, lastAckedSequence: 2, decidedHash: database.changelog.hashOf(2) }));
    sync.applyDelivery(fullResync({ groups: [testGroup('insert', page, [{ id: 'a', title: 'B', hits: 50n }])] }));
    expect(pages(database)).toEqual([['a', 'B', 52]]);
    expect(database.rejected.list().map(({ changeset, error }) => [changeset.sequence, error.code])).toEqual([
      [4, 'constraint-unique'],
    ]);
    sync.applyDelivery(
      testDelivery({
        from: 90,
        to: 91,
        lastAckedSequence: 2,
        groups: [testGroup('update', page, [{ id: 'a', title: 'C' }])],
      }),
    );
    expect(pages(database).map(([, title]) => title)).toEqual(['C', 'B']);
    expect(database.rejected.count()).toBe(0);
    database.close();
  });

  it('leaves later writes unaffected by the cells of a masked changeset', () => {
    const { database, sync } = atFive();
    write(database, "INSERT INTO page (id, title) VALUES ('c', 'C')", "UPDATE note SET text = 'mine' WHERE id = 'n'");
    sync.greet(testWelcome({ fullResync: true, lastAckedSequence: 2, decidedHash: database.changelog.hashOf(2) }));
    sync.applyDelivery(
      fullResync({
        groups: [
          testGroup('insert', page, [{ id: 'a', title: 'C', hits: 50n }]),
          testGroup('insert', note, [{ id: 'n', text: 'theirs' }]),
        ],
      }),
    );
    expect(database.rejected.list().map(({ changeset }) => changeset.sequence)).toEqual([5]);
    expect(database.connection.rows('SELECT text FROM note')).toEqual([['theirs']]);
    write(database, "UPDATE note SET text = 'seen' WHERE id = 'n'");
    expect(newestCellBases(database, sync)).toEqual([]);
    database.close();
  });

  it('changes nothing if it fails, and later deliveries apply', () => {
    const { database, sync } = atFive();
    sync.greet(testWelcome({ fullResync: true, lastAckedSequence: 3, decidedHash: database.changelog.hashOf(3) }));
    const twice = { title: 'A', hits: 10n };
    const groups = [
      testGroup('insert', page, [
        { id: 'a', ...twice },
        { id: 'c', ...twice },
      ]),
    ];
    expect(() => sync.applyDelivery(fullResync({ lastAckedSequence: 3, outcomes: admitted(3, 3), groups }))).toThrow(
      expect.objectContaining({ code: 'constraint-unique' }),
    );
    const update = testGroup('update', page, [{ id: 'a', hits: 20n }]);
    sync.applyDelivery(testDelivery({ from: 5, to: 6, lastAckedSequence: 2, groups: [update] }));
    expect(pages(database)).toEqual([
      ['a', 'A', 22],
      ['b', 'B', 0],
    ]);
    database.close();
  });

  it('changes nothing if it fails, and can be delivered again', () => {
    const { database, sync } = atFive();
    sync.greet(
      testWelcome({
        logEpoch: testEpoch(2),
        fullResync: true,
        lastAckedSequence: 1,
        decidedHash: database.changelog.hashOf(1),
      }),
    );
    const before = [pages(database), sync.position()];
    const rows = [
      { id: 'a', title: 'A', hits: 10n },
      { id: 'c', title: 'A', hits: 10n },
    ];
    expect(() =>
      sync.applyDelivery(fullResync({ lastAckedSequence: 1, groups: [testGroup('insert', page, rows)] })),
    ).toThrow(expect.objectContaining({ code: 'constraint-unique' }));
    expect([pages(database), sync.position()]).toEqual(before);
    sync.applyDelivery(fullResync({ lastAckedSequence: 1, groups: [testGroup('insert', page, rows.slice(0, 1))] }));
    expect(pages(database)[0]).toEqual(['a', 'A', 13]);
    database.close();
  });
});

describe('a masked pending write', () => {
  it('is listed with the server’s reason once the server has rejected it', () => {
    const { database, sync } = atFive();
    const reasons = (): unknown =>
      database.rejected.list().map(({ changeset, error }) => [changeset.sequence, error.code]);
    const theirs = testGroup('insert', page, [{ id: 'z', title: 'B', hits: 0n }]);
    sync.applyDelivery(testDelivery({ from: 5, to: 6, lastAckedSequence: 2, groups: [theirs] }));
    expect(reasons()).toEqual([[4, 'constraint-unique']]);
    const rejection = { sequence: 4, kind: 'rejected', code: 'constraint-check', fields: {} } as const;
    sync.applyDelivery(
      testDelivery({ from: 6, to: 7, lastAckedSequence: 4, outcomes: [...admitted(3, 3), rejection] }),
    );
    expect(reasons()).toEqual([[4, 'constraint-check']]);
    database.close();
  });

  it('keeps its cell base once it is unmasked [MR-02]', () => {
    const { database, sync } = withCoveredNote();
    const theirPage = (title: string): ReturnType<typeof testGroup> =>
      testGroup('insert', page, [{ id: 'd', title, hits: 0n }]);
    sync.applyDelivery(
      testDelivery({
        from: 8,
        to: 12,
        lastAckedSequence: 5,
        outcomes: admitted(3, 5),
        groups: [testGroup('insert', note, [{ id: 'x', text: 'theirs' }]), theirPage('C')],
      }),
    );
    expect(database.rejected.list().map(({ changeset }) => changeset.sequence)).toEqual([6]);
    sync.applyDelivery(testDelivery({ from: 12, to: 13, lastAckedSequence: 5, groups: [theirPage('D')] }));
    expect(database.connection.value("SELECT text FROM note WHERE id = 'x'")).toBe('mine again');
    write(database, "UPDATE note SET text = 'mine at last' WHERE id = 'x'");
    expect(newestCellBases(database, sync)).toEqual([
      { tableId: note.id, key: ['x'], columnId: columnIdOf('text'), base: 5 },
    ]);
    database.close();
  });
});

describe('a pending counter beyond 64 bits', () => {
  it('is masked until it fits', () => {
    const database = openInMemory({ schema });
    const sync = testSync(database);
    sync.greet(testWelcome());
    sync.applyDelivery(
      testDelivery({ to: 1, groups: [testGroup('insert', page, [{ id: 'a', title: 'A', hits: 0n }])] }),
    );
    write(database, "UPDATE page SET hits = hits + 10 WHERE id = 'a'");
    sync.applyDelivery(
      testDelivery({ from: 1, to: 2, groups: [testGroup('update', page, [{ id: 'a', hits: 2n ** 63n - 5n }])] }),
    );
    expect(database.connection.value('SELECT CAST(hits AS TEXT) FROM page')).toBe(String(2n ** 63n - 5n));
    expect(database.rejected.list()[0]?.error).toMatchObject({
      code: 'value-invalid',
      fields: { problem: 'counter-range' },
    });
    sync.applyDelivery(testDelivery({ from: 2, to: 3, groups: [testGroup('update', page, [{ id: 'a', hits: 7n }])] }));
    expect(pages(database)).toEqual([['a', 'A', 17]]);
    expect(database.rejected.count()).toBe(0);
    database.close();
  });
});

describe('an outcome that the server has forgotten', () => {
  const gap = testDelivery({ from: 5, to: 7, lastAckedSequence: 4, outcomes: admitted(4, 4) });

  it('in the first delivery after a welcome means that another copy of the file has confirmed it', () => {
    const { database, sync } = atFive();
    sync.greet(testWelcome({ lastAckedSequence: 4 }));
    expect(() => sync.applyDelivery(gap)).toThrow(
      new RockpoolError('site-copied', { problem: 'an outcome is missing', ackedHere: 2, sequence: 5 }),
    );
    database.close();
  });

  it('in a later delivery means that a delivery was lost, and changes nothing', () => {
    const { database, sync } = atFive();
    sync.greet(testWelcome({ lastAckedSequence: 2 }));
    sync.applyDelivery(testDelivery({ from: 5, to: 5, lastAckedSequence: 2 }));
    expect(() => sync.applyDelivery(gap)).toThrow(expect.objectContaining({ code: 'frame-unexpected' }));
    expect(sync.position()).toMatchObject({ cursor: 5, lastAckedSequence: 2 });
    database.close();
  });
});

describe('a rejected changeset', () => {
  it('is removed from the rows; later changesets stay, and are rejected only if they depend on it [MR-61]', () => {
    const { database, sync } = atFive();
    write(database, "INSERT INTO page (id, title) VALUES ('c', 'C')");
    write(database, "UPDATE page SET title = 'B2' WHERE id = 'b'");
    const outcomes = [
      ...admitted(3, 3),
      { kind: 'rejected', sequence: 4, code: 'constraint-unique', fields: {} },
    ] as const;
    sync.applyDelivery(testDelivery({ from: 5, to: 6, lastAckedSequence: 4, outcomes }));
    expect(pages(database)).toEqual([
      ['a', 'A', 13],
      ['c', 'C', 0],
    ]);
    expect([...database.rejected.sequences()]).toEqual([4]);
    expect(sync.counts()).toMatchObject({ pendingCount: 2, rejectedCount: 1 });
    sync.applyDelivery(
      testDelivery({
        from: 6,
        to: 7,
        lastAckedSequence: 6,
        outcomes: [...admitted(5, 5), { kind: 'rejected', sequence: 6, code: 'constraint-foreign-key', fields: {} }],
      }),
    );
    expect(pages(database).map(([id]) => id)).toEqual(['a', 'c']);
    expect([...database.rejected.sequences()]).toEqual([4, 6]);
    expect(sync.counts().pendingCount).toBe(0);
    database.close();
  });
});
