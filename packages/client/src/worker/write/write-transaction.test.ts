import {
  buildSchema,
  changesetHash,
  columnIdOf,
  decodeChangesetBody,
  FIRST_PREVIOUS_HASH,
  RockpoolError,
  tableIdOf,
} from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it, vi } from 'vitest';
import { MERGE_REQUEST_PREFIX } from '../../rpc/branch-file.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { SqlParam } from '../../rpc/sql-value.ts';
import { createIdSource } from '../../new-id.ts';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { Statement } from '../sqlite/statement.ts';
import { account, openInMemory, openStored, TestClock } from '../../../testing/worker/test-database.ts';

let requests = 0;

function write(
  database: OpenDatabase,
  ...statements: readonly (string | readonly [string, ...SqlParam[]])[]
): WriteOutcome {
  return database.write({
    id: `request-${++requests}`,
    statements: statements.map((statement) =>
      typeof statement === 'string'
        ? { sql: statement, params: [] }
        : { sql: statement[0], params: statement.slice(1) as SqlParam[] },
    ),
  });
}

const fill = (bytes: Uint8Array<ArrayBuffer>): void => void crypto.getRandomValues(bytes);

function failure(action: () => unknown): RockpoolError {
  try {
    action();
  } catch (error) {
    if (error instanceof RockpoolError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** Everything that a write may leave in the database. */
function contents(database: OpenDatabase): unknown {
  const tables = [
    'account',
    'entry',
    'priced',
    'draft',
    'rockpool_changelog',
    'rockpool_request',
    'rockpool_meta',
    'rockpool_parked',
  ];
  return tables.map((table) => [table, database.connection.rows(`SELECT * FROM ${table}`)]);
}

describe('a write', () => {
  it('that fails stops recording, so that a delivery after it is not recorded', () => {
    const database = openInMemory();
    const changed = vi.spyOn(database.connection, 'recordingChanged');
    failure(() => write(database, 'INSERT INTO missing VALUES (1)'));
    expect(changed.mock.calls.flat()).toEqual([1, -1]);
    database.close();
  });

  it('commits rows, changeset and request together', () => {
    const database = openInMemory();
    const outcome = write(
      database,
      ['INSERT INTO account (id, name, amount) VALUES (?, ?, ?)', 'a', 'Cash', 5],
      'UPDATE account SET rate = 2.0',
      'SELECT * FROM account',
    );
    expect(outcome).toMatchObject({
      results: [{ changes: 1 }, { changes: 1 }, { changes: 0, rows: { rowCount: 1 } }],
      touchedTables: ['account'],
      sequence: 1,
      repeated: false,
    });
    expect(database.connection.rows('SELECT id, name, amount FROM account')).toEqual([['a', 'Cash', 5]]);
    const changeset = database.changelog.read(1);
    expect(changeset?.groups).toEqual([
      {
        tableId: tableIdOf('account'),
        kind: 'insert',
        rowCount: 1,
        keys: [['a']],
        columnIds: ['name', 'amount', 'rate', 'extra'].map(columnIdOf),
        values: [['Cash'], [5n], [2], [null]],
      },
    ]);
    expect(database.connection.value('SELECT count(*) FROM rockpool_request')).toBe(1);
    database.close();
  });

  it('stores the old values with the changeset', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id, name, amount) VALUES ('a', 'Cash', 5), ('b', 'Bank', 6)");
    write(database, "UPDATE account SET amount = 50 WHERE id = 'a'", "DELETE FROM account WHERE id = 'b'");
    const changeset = database.changelog.read(2);
    expect(changeset?.groups.map(({ kind, keys, values }) => [kind, keys, values])).toEqual([
      ['delete', [['b']], []],
      ['update', [['a']], [[50n]]],
    ]);
    expect(changeset?.before).toEqual([
      { columnIds: ['name', 'amount', 'rate', 'extra'].map(columnIdOf), values: [['Bank'], [6n], [null], [null]] },
      { columnIds: [columnIdOf('amount')], values: [[5n]] },
    ]);
    database.close();
  });

  it('captures tables with generated columns in the same changeset', () => {
    const database = openInMemory();
    const outcome = write(
      database,
      "INSERT INTO account (id) VALUES ('a')",
      "INSERT INTO priced (id, net) VALUES ('p', 4)",
    );
    expect(outcome.touchedTables).toEqual(['account', 'priced']);
    expect(database.changelog.read(1)?.groups.map(({ tableId, columnIds }) => [tableId, columnIds.length])).toEqual([
      [tableIdOf('account'), 4],
      [tableIdOf('priced'), 1],
    ]);
    expect(database.connection.value('SELECT gross FROM priced')).toBe(8);
    database.close();
  });

  it('numbers changesets without gaps, chains their hashes, and raises stamps whatever the clock does', () => {
    const clock = new TestClock();
    const database = openInMemory({ nowMs: clock.now });
    const insert = (id: string): unknown => write(database, ['INSERT INTO account (id) VALUES (?)', id]);
    insert('a');
    insert('b');
    clock.ms -= 1_000_000;
    insert('c');
    write(database, "UPDATE account SET name = NULL WHERE id = 'c'");
    failure(() => insert('c'));
    clock.ms += 5_000_000;
    insert('d');
    const batch = database.outbox.nextPush(0, 1e9);
    expect(batch?.previousHash).toEqual(FIRST_PREVIOUS_HASH);
    expect(batch?.changesets.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    const stamps = batch?.changesets.map(({ stampUs }) => stampUs) ?? [];
    expect(stamps).toEqual([
      1_700_000_000_000_000, 1_700_000_000_000_001, 1_700_000_000_000_002, 1_700_005_000_000_000,
    ]);
    let hash: Uint8Array = FIRST_PREVIOUS_HASH;
    for (const changeset of batch?.changesets ?? []) {
      hash = changesetHash(hash, changeset);
      expect(database.changelog.hashOf(changeset.sequence)).toEqual(hash);
    }
    database.close();
  });

  it('carries the cursor as its base, and cell bases for covered cells', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id, name, amount) VALUES ('a', 'x', 1), ('b', 'y', 2), ('c', 'z', 3)");
    database.meta.set('cursor', 40);
    const insertCovered = database.connection.prepare('INSERT INTO rockpool_base VALUES (?, ?, ?, ?, ?)');
    const key = (id: string): Uint8Array => new Uint8Array([3, 1, id.charCodeAt(0)]);
    insertCovered.runCells(BigInt(tableIdOf('account')), key('a'), BigInt(columnIdOf('amount')), 7n, 12n);
    insertCovered.runCells(BigInt(tableIdOf('account')), key('a'), BigInt(columnIdOf('name')), 'n', 13n);
    insertCovered.runCells(BigInt(tableIdOf('account')), key('b'), BigInt(columnIdOf('amount')), 7n, 14n);
    insertCovered.runCells(BigInt(tableIdOf('account')), key('b'), BigInt(columnIdOf('name')), 'n', 11n);
    insertCovered.runCells(BigInt(tableIdOf('account')), key('c'), 0n, 0n, 15n);
    insertCovered.release();
    write(database, "UPDATE account SET amount = 9 WHERE id IN ('a', 'c')", "DELETE FROM account WHERE id = 'b'");
    const [, sent] = database.outbox.nextPush(0, 1e9)?.changesets ?? [];
    expect(sent?.base).toBe(40);
    expect(database.changelog.hashOf(2)).toEqual(
      changesetHash(database.changelog.hashOf(1), sent ?? { sequence: 0, stampUs: 0, base: 0, body: new Uint8Array() }),
    );
    const { cellBases } = decodeChangesetBody(sent?.body ?? new Uint8Array());
    const byKey = cellBases.map(({ key: [id], columnId, base }) => [id, columnId, base]);
    expect(byKey).toHaveLength(4);
    expect(byKey).toEqual(
      expect.arrayContaining([
        ['a', columnIdOf('amount'), 12],
        ['b', columnIdOf('amount'), 14],
        ['b', columnIdOf('name'), 11],
        ['c', 0, 15],
      ]),
    );
    database.close();
  });

  it('creates no changeset if it changes only local tables or nothing', () => {
    const database = openInMemory();
    expect(write(database, "INSERT INTO draft (text) VALUES ('x')")).toMatchObject({
      sequence: null,
      touchedTables: ['draft'],
      results: [{ changes: 1 }],
    });
    expect(write(database, "UPDATE account SET name = 'x'")).toMatchObject({ sequence: null, touchedTables: [] });
    expect(database.changelog.head().sequence).toBe(0);
    expect(
      write(database, "INSERT INTO account (id) VALUES ('a')", 'DELETE FROM draft').touchedTables.toSorted(),
    ).toEqual(['account', 'draft']);
    database.close();
  });

  it('reports the tables of a trigger that a transaction has dropped and restored by a rollback', () => {
    const insertIf = (condition: number): SqlStatement => ({
      sql: 'INSERT INTO account (id) SELECT ? WHERE ?',
      params: ['x', condition],
    });
    const dropping = [{ sql: 'DROP TRIGGER copy', params: [] }, insertIf(0)];
    const rollingBack: readonly ((database: OpenDatabase) => void)[] = [
      (database) => {
        const statements = [...dropping, { sql: 'INSERT INTO account (id) VALUES (NULL)', params: [] }];
        expect(() => database.write({ id: 'failing', statements })).toThrow();
      },
      (database) => {
        const transaction = database.begin({ atomic: false });
        for (const statement of dropping) transaction.execute(statement);
        transaction.rollback();
      },
      (database) => {
        const transaction = database.begin({ atomic: false });
        transaction.savepoint(1);
        for (const statement of dropping) transaction.execute(statement);
        transaction.undo(1);
        transaction.commit('undone');
      },
      (database) => {
        const transaction = database.begin({ atomic: false });
        transaction.execute({ sql: 'DROP TRIGGER copy', params: [] });
        transaction.savepoint(1);
        transaction.undo(1);
        transaction.execute(insertIf(0));
        transaction.rollback();
      },
    ];
    for (const rollBack of rollingBack) {
      const database = openInMemory();
      write(
        database,
        'CREATE TRIGGER copy AFTER INSERT ON account BEGIN INSERT INTO draft (text) VALUES (new.id); END',
      );
      rollBack(database);
      const { touchedTables } = database.write({ id: 'after', statements: [insertIf(1)] });
      expect(touchedTables.toSorted()).toEqual(['account', 'draft']);
      database.close();
    }
  });

  it('reports the tables that triggers and cascades touch', () => {
    const database = openInMemory();
    database.connection.exec('CREATE VIRTUAL TABLE entry_fts USING fts5(note)'); // The table as a migration creates it.
    write(
      database,
      'CREATE TRIGGER entry_ai AFTER INSERT ON entry BEGIN INSERT INTO entry_fts (rowid, note) VALUES (new.rowid, new.note); END',
      "INSERT INTO account (id) VALUES ('a')",
    );
    expect(write(database, "INSERT INTO entry VALUES ('1', 'a', 'words to find')").touchedTables.toSorted()).toEqual([
      'entry',
      'entry_fts',
    ]);
    expect(database.connection.value("SELECT count(*) FROM entry_fts WHERE entry_fts MATCH 'find'")).toBe(1);
    expect(write(database, 'DELETE FROM account').touchedTables.toSorted()).toEqual(['account', 'entry']);
    database.close();
  });
});

it('a write runs each of many identical statements', () => {
  const database = openInMemory();
  const sql = 'INSERT INTO account (id) VALUES (?)';
  const outcome = write(database, [sql, 'a'], [sql, 'b'], 'DELETE FROM account', [sql, 'c'], [sql, 'd'], [sql, 'e']);
  expect(outcome.results.map(({ changes }) => changes)).toEqual([1, 1, 2, 1, 1, 1]);
  expect(database.changelog.read(1)?.groups[0]?.keys[0]?.toSorted()).toEqual(['c', 'd', 'e']);
  expect(failure(() => write(database, [sql, 'f'], [sql, 'c'])).code).toBe('constraint-primary-key');
  expect(write(database, [sql, 'f']).sequence).toBe(2);
  database.close();
});

describe('a write that fails', () => {
  const leavesNothing = (name: string, statements: readonly string[], code: string): void =>
    it(`changes nothing after ${name}`, () => {
      const database = openInMemory();
      write(database, "INSERT INTO account (id, name) VALUES ('a', 'Cash')", "INSERT INTO priced (id) VALUES ('p')");
      const before = contents(database);
      expect(
        failure(() =>
          write(
            database,
            "INSERT INTO draft (text) VALUES ('x')",
            "INSERT INTO account (id) VALUES ('n')",
            ...statements,
          ),
        ).code,
      ).toBe(code);
      expect(contents(database)).toEqual(before);
      expect(database.connection.inTransaction).toBe(false);
      // The next write captures only its own changes.
      write(database, "INSERT INTO account (id) VALUES ('later')");
      expect(database.changelog.read(2)?.groups.map(({ keys }) => keys)).toEqual([[['later']]]);
      database.close();
    });

  leavesNothing('a constraint', ["INSERT INTO account (id) VALUES ('a')"], 'constraint-primary-key');
  leavesNothing(
    'a constraint that ends the transaction itself',
    ["INSERT OR ROLLBACK INTO account (id) VALUES ('a')"],
    'constraint-primary-key',
  );
  leavesNothing(
    'a foreign key checked at the end',
    ['PRAGMA defer_foreign_keys = ON', "INSERT INTO entry VALUES ('1', 'nobody', NULL)"],
    'constraint-foreign-key',
  );
  leavesNothing('invalid SQL', ['UPDATE nowhere SET a = 1'], 'query-invalid');
  leavesNothing('a value that cannot be sent', ['UPDATE account SET rate = 9e999'], 'value-invalid');
  leavesNothing(
    'a value that cannot be sent in a table with generated columns',
    ["UPDATE priced SET net = 'a' || char(0)"],
    'value-invalid',
  );
  leavesNothing('a forbidden statement', ['COMMIT'], 'sql-forbidden');
  leavesNothing('a savepoint left open', ['SAVEPOINT s', 'UPDATE account SET rate = 9e999'], 'value-invalid');

  it('changes nothing if its changeset is too large to send', () => {
    const database = openInMemory();
    const large =
      "INSERT INTO account (id, extra) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7) SELECT 'k' || i, zeroblob(7500000) FROM n";
    const error = failure(() => write(database, large));
    expect(error.code).toBe('changeset-too-large');
    expect(error.fields['maxBytes']).toBe(48 * 1024 * 1024);
    expect(database.connection.value('SELECT count(*) FROM account')).toBe(0);
    database.close();
  });

  it('runs when it is repeated', () => {
    const database = openInMemory();
    const request = { id: 'same', statements: [{ sql: "INSERT INTO entry VALUES ('1', 'a', NULL)", params: [] }] };
    expect(failure(() => database.write(request)).code).toBe('constraint-foreign-key');
    write(database, "INSERT INTO account (id) VALUES ('a')");
    expect(database.write(request)).toMatchObject({ repeated: false, sequence: 2 });
    database.close();
  });
});

it('a write of one statement runs five SQL statements, including those that store its changeset and request; reporting it runs none', () => {
  const clock = new TestClock();
  const newId = createIdSource({ nowMs: clock.now, random: fill });
  const database = openInMemory({ nowMs: clock.now, schema: buildSchema([account]) });
  const insert = (key: string): void => {
    database.write({ id: newId(), statements: [{ sql: 'INSERT INTO account (id) VALUES (?)', params: [key] }] });
    database.outbox.pendingCount();
    database.rejected.count();
  };
  insert('first');
  const step = vi.spyOn(Statement.prototype, 'step');
  for (const key of ['a', 'b', 'c']) insert(key);
  expect(step).toHaveBeenCalledTimes(15);
  step.mockRestore();
  database.close();
});

describe('a repeated request', () => {
  it('takes effect once and returns the first outcome', () => {
    const database = openInMemory();
    write(database, "INSERT INTO account (id, amount) VALUES ('a', 1)");
    const request = { id: 'add', statements: [{ sql: 'UPDATE account SET amount = amount + ?', params: [10] }] };
    const first = database.write(request);
    write(database, 'UPDATE account SET amount = amount + 100');
    expect(database.write(request)).toEqual({ ...first, changes: [], repeated: true });
    expect(database.connection.value('SELECT amount FROM account')).toBe(111);
    expect(database.changelog.head().sequence).toBe(3);
    database.close();
  });

  const textId = (): string => `request-${++requests}`;
  const ids = [
    ['an id of a client', (clock: TestClock): (() => string) => createIdSource({ nowMs: clock.now, random: fill })],
    ['another id', (): (() => string) => textId],
  ] as const;

  it('takes effect once, even if its id is not the newest or the clock was set back', () => {
    const clock = new TestClock();
    const [ours, theirs] = [1, 2].map(() => createIdSource({ nowMs: clock.now, random: fill })) as [
      () => string,
      () => string,
    ];
    const database = openInMemory({ nowMs: clock.now });
    const add = (id: string): boolean =>
      database.write({ id, statements: [{ sql: "INSERT INTO draft (text) VALUES ('x')", params: [] }] }).repeated;
    const early = theirs();
    clock.ms += 1000;
    const late = ours();
    expect([late, early, late, early].map(add)).toEqual([false, false, true, true]);
    clock.ms -= 5000;
    const earliest = createIdSource({ nowMs: clock.now, random: fill })();
    expect([earliest, earliest, late].map(add)).toEqual([false, true, true]);
    expect(database.connection.value('SELECT count(*) FROM draft')).toBe(3);
    database.close();
  });

  it('takes effect once if the database was reopened in between', async () => {
    const medium = memoryMedium();
    const clock = new TestClock();
    const newId = createIdSource({ nowMs: clock.now, random: fill });
    const requestOf = (id: string): WriteRequest => ({
      id,
      statements: [{ sql: "INSERT INTO draft (text) VALUES ('x')", params: [] }],
    });
    const [first, second, third] = [newId(), newId(), newId()];
    const before = await openStored(medium);
    before.database.write(requestOf(second));
    before.database.write(requestOf('not a UUID'));
    await before.close();
    const { database, close } = await openStored(medium);
    expect([second, third, first, third].map((id) => database.write(requestOf(id)).repeated)).toEqual([
      true,
      false,
      false,
      true,
    ]);
    await close();
  });

  it.each(ids)('is kept for a day and until its outcome, then removed (%s)', (_, idsOf) => {
    const clock = new TestClock();
    const newId = idsOf(clock);
    const database = openInMemory({ nowMs: clock.now });
    const run = (sql: string): WriteOutcome => database.write({ id: newId(), statements: [{ sql, params: [] }] });
    run("INSERT INTO account (id) VALUES ('a')");
    database.outbox.markAcknowledged(1, clock.ms);
    clock.ms += 25 * 60 * 60 * 1000;
    run("INSERT INTO account (id) VALUES ('b')");
    clock.ms += 25 * 60 * 60 * 1000;
    for (let i = 0; i < 1000; i++) run('DELETE FROM draft');
    // The request of the pending changeset is older than a day too.
    expect(database.connection.value('SELECT count(*) FROM rockpool_request')).toBe(1001);
    database.close();
  });

  it.each(ids)('is kept among the newest thousand even if the clock is set ahead (%s)', (_, idsOf) => {
    const clock = new TestClock();
    const newId = idsOf(clock);
    const database = openInMemory({ nowMs: clock.now });
    const request = { id: newId(), statements: [{ sql: "INSERT INTO draft VALUES ('1', 'a')", params: [] }] };
    database.write(request);
    clock.ms += 365 * 24 * 60 * 60 * 1000;
    for (let i = 0; i < 998; i++)
      database.write({ id: newId(), statements: [{ sql: 'DELETE FROM draft', params: [] }] });
    expect(database.write(request).repeated).toBe(true);
    database.close();
  });

  it('of a merge is kept at any age, because the file of its branch may be merged again at any time', () => {
    const clock = new TestClock();
    const database = openInMemory({ nowMs: clock.now });
    const merge = {
      id: `${MERGE_REQUEST_PREFIX}plan`,
      statements: [{ sql: "INSERT INTO draft VALUES ('1', 'a')", params: [] }],
    };
    database.write(merge);
    clock.ms += 365 * 24 * 60 * 60 * 1000;
    for (let i = 0; i < 1000; i++) write(database, 'UPDATE draft SET text = text WHERE id IS NULL');
    expect(database.connection.value('SELECT count(*) FROM rockpool_request')).toBe(1001);
    expect(database.write(merge).repeated).toBe(true);
    database.close();
  });

  it.each(ids)('names the tables that it touched, synced and local, when repeated (%s)', (_, idsOf) => {
    const clock = new TestClock();
    const newId = idsOf(clock);
    const database = openInMemory({ nowMs: clock.now });
    const request = (...sql: readonly string[]): WriteRequest => ({
      id: newId(),
      statements: sql.map((one) => ({ sql: one, params: [] })),
    });
    const synced = request("INSERT INTO account (id) VALUES ('a')", "INSERT INTO account (id) VALUES ('b')");
    const both = request("INSERT INTO draft VALUES ('1', 'a')", "INSERT INTO account (id) VALUES ('c')");
    const local = request("INSERT INTO draft VALUES ('2', 'a')");
    for (const one of [synced, both, local]) {
      const first = database.write(one);
      const again = database.write(one);
      expect(again).toMatchObject({ repeated: true, sequence: first.sequence });
      expect(again.touchedTables.toSorted()).toEqual(first.touchedTables.toSorted());
    }
    const stored = database.connection.rows('SELECT tables_json FROM rockpool_request ORDER BY sequence').flat();
    expect(stored).toEqual(['["draft"]', '', '["draft"]']);
    database.close();
  });
});

describe('a forbidden statement [MR-74]', () => {
  const forbidden = (sql: string, fields: object): void =>
    it(`${sql}`, () => {
      const database = openInMemory();
      const error = failure(() => write(database, sql));
      expect([error.code, error.fields]).toEqual(['sql-forbidden', fields]);
      database.close();
    });

  forbidden('BEGIN', { problem: 'transaction' });
  forbidden('COMMIT', { problem: 'transaction' });
  forbidden('ROLLBACK', { problem: 'transaction' });
  forbidden("ATTACH ':memory:' AS other", { problem: 'attach' });
  forbidden('DETACH other', { problem: 'attach' });
  forbidden('PRAGMA foreign_keys = OFF', { problem: 'pragma', pragma: 'foreign_keys' });
  forbidden('PRAGMA writable_schema = ON', { problem: 'pragma', pragma: 'writable_schema' });
  forbidden('PRAGMA journal_mode = OFF', { problem: 'pragma', pragma: 'journal_mode' });
  forbidden("UPDATE rockpool_meta SET value = 1 WHERE key = 'cursor'", {
    problem: 'internal-table',
    table: 'rockpool_meta',
  });
  forbidden('DELETE FROM ROCKPOOL_CHANGELOG', { problem: 'internal-table', table: 'rockpool_changelog' });
  forbidden("INSERT INTO rockpool_conflict (id) VALUES ('x')", {
    problem: 'internal-table',
    table: 'rockpool_conflict',
  });
  forbidden('CREATE TABLE rockpool_mine (a)', { problem: 'reserved-name', name: 'rockpool_mine' });
  forbidden('DROP TABLE rockpool_parked', { problem: 'reserved-name', name: 'rockpool_parked' });
  forbidden('CREATE TEMP TABLE account (id)', { problem: 'name-taken', name: 'account' });
  forbidden('ALTER TABLE account ADD COLUMN extra_column TEXT', { problem: 'schema', table: 'account' });
  forbidden('DROP TABLE draft', { problem: 'schema', table: 'draft' });
  forbidden('CREATE UNIQUE INDEX mine ON account (amount)', { problem: 'schema', table: 'account' });
  forbidden('DROP INDEX entry_account', { problem: 'schema', table: 'entry' });

  it('a trigger that writes to a forbidden table, once it fires', () => {
    const database = openInMemory();
    write(database, "INSERT INTO draft (text) VALUES ('x')");
    write(database, 'CREATE TRIGGER sneaky AFTER INSERT ON draft BEGIN DELETE FROM rockpool_changelog; END');
    const error = failure(() => write(database, "INSERT INTO draft (text) VALUES ('x')"));
    expect([error.code, error.fields]).toEqual([
      'sql-forbidden',
      { problem: 'internal-table', table: 'rockpool_changelog' },
    ]);
    database.close();
  });

  it('a trigger created in the same write', () => {
    const database = openInMemory();
    const insert = "INSERT INTO draft (text) VALUES ('x')";
    const error = failure(() =>
      write(
        database,
        insert,
        'CREATE TRIGGER sneaky AFTER INSERT ON draft BEGIN DELETE FROM rockpool_changelog; END',
        insert,
      ),
    );
    expect(error.code).toBe('sql-forbidden');
    database.close();
  });

  it('is not one that changes the schema in a savepoint and rolls that back', () => {
    const database = openInMemory();
    write(
      database,
      "INSERT INTO account (id) VALUES ('a')",
      'SAVEPOINT s',
      'CREATE VIEW names AS SELECT name FROM account',
      "INSERT INTO account (id) VALUES ('b')",
      '/* undoes */ ROLLBACK TO s',
      'RELEASE s',
    );
    expect(database.connection.rows('SELECT id FROM account')).toEqual([['a']]);
    database.close();
  });

  it('is not one that uses TEMP tables, views or savepoints', () => {
    const database = openInMemory();
    const outcome = write(
      database,
      'CREATE TEMP TABLE scratch (a, b)',
      'CREATE INDEX temp.scratch_a ON scratch (a)',
      'CREATE VIEW names AS SELECT name FROM account',
      'SAVEPOINT s',
      'INSERT INTO scratch VALUES (1, 1)',
      'ROLLBACK TO s',
      'RELEASE s',
      'INSERT INTO scratch VALUES (2, 3)',
      'DROP VIEW names',
    );
    expect(outcome.results.map(({ changes }) => changes)).toEqual([0, 0, 0, 0, 1, 0, 0, 1, 0]);
    expect(database.connection.rows('SELECT * FROM scratch')).toEqual([[2, 3]]);
    database.close();
  });
});

it('a write names the schema as touched if its statements may have changed the results of queries', () => {
  const database = openInMemory();
  const touchesSchema = (sql: string): boolean => write(database, sql).touchedTables.includes('sqlite_master');
  const changing = [
    'CREATE VIEW names AS SELECT name FROM account',
    'CREATE TEMP TABLE names (name)', // Hides the view.
    'DROP TABLE temp.names',
    'CREATE TEMP VIEW mine AS SELECT 1',
    'DROP VIEW mine',
  ];
  expect(changing.filter((sql) => !touchesSchema(sql))).toEqual([]);
  const unchanging = [
    'CREATE VIEW IF NOT EXISTS names AS SELECT id FROM account',
    'CREATE TRIGGER named AFTER INSERT ON draft BEGIN SELECT 2; END',
    'CREATE TEMP TABLE scratch (a)',
    'CREATE TEMP TABLE IF NOT EXISTS scratch (a)',
    'DROP TABLE temp.scratch',
  ];
  expect(unchanging.filter(touchesSchema)).toEqual([]);
  database.close();
});

it('a batch after a transaction that changed the schema does not load the schema again', () => {
  const database = openInMemory();
  write(database, 'CREATE TEMP TABLE scratch (a)');
  const read = vi.spyOn(database.connection, 'value');
  write(database, 'SAVEPOINT a', 'RELEASE a');
  expect(read.mock.calls.flat()).not.toContain('SELECT 1 FROM sqlite_schema');
});
