import fc from 'fast-check';
import { columnIdOf, RockpoolError, type TableSchema } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { Connection } from '../sqlite/connection.ts';
import { loadSqlite } from '../sqlite/load-sqlite.node.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { readCaptureTable } from './capture-table.ts';
import type { CapturedChanges } from './captured-changes.ts';
import { TransactionCapture } from './transaction-capture.ts';
import {
  capturedDifferences,
  diffSnapshots,
  takeSnapshot,
  type Differences,
} from '../../../testing/capture/snapshot-diff.ts';

const account = testTable('account', {
  id: 'text not null',
  name: 'text',
  amount: 'integer',
  rate: 'real',
  extra: 'blob',
});
const entry = testTable(
  'entry',
  { id: 'text not null', account_id: 'text', code: 'text', note: 'text' },
  { uniques: [['code']] },
);
const pair = testTable(
  'pair',
  { left: 'integer not null', right: 'text not null', value: 'blob' },
  { primaryKey: ['left', 'right'] },
);
const priced = testTable(
  'priced',
  {
    id: 'text not null',
    net: 'integer',
    tax: 'integer',
    gross: 'integer as net+tax stored',
    label: 'text as id||net virtual',
  },
  { indexes: [{ name: 'priced_gross', unique: true, expressions: ['"gross"'], whereSql: null }] },
);
const document_ = testTable(
  'document',
  { id: 'text not null', title: 'text', body: 'text' },
  {
    indexes: [
      { name: 'document_title', unique: true, expressions: ['lower("title")'], whereSql: '"title" IS NOT NULL' },
    ],
  },
);

const PLAIN_TABLES: readonly TableSchema[] = [account, entry, pair, document_];

const DDL = `
  CREATE TABLE account (id TEXT PRIMARY KEY NOT NULL, name TEXT, amount INTEGER, rate REAL, extra BLOB);
  CREATE TABLE entry (id TEXT PRIMARY KEY NOT NULL, account_id TEXT REFERENCES account ON DELETE CASCADE ON UPDATE CASCADE, code TEXT UNIQUE, note TEXT);
  CREATE TABLE pair ("left" INTEGER NOT NULL, "right" TEXT NOT NULL, value BLOB, PRIMARY KEY ("left", "right"));
  CREATE TABLE document (id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT);
  CREATE UNIQUE INDEX document_title ON document (lower(title)) WHERE title IS NOT NULL;
  CREATE TABLE local_log (n INTEGER PRIMARY KEY, what TEXT);
  INSERT INTO account VALUES ('a', 'Cash', 100, 1.5, x'00ff'), ('b', 'Bank', 200, 2, NULL), ('c', NULL, NULL, NULL, 'text in a blob column');
  INSERT INTO entry VALUES ('1', 'a', 'one', 'first'), ('2', 'a', 'two', NULL), ('3', 'b', 'three', 'third');
  INSERT INTO pair VALUES (1, 'x', x'01'), (1, 'y', 2), (2, 'x', 2.5);
  INSERT INTO document VALUES ('d1', 'Hello', 'hello world'), ('d2', 'Other', 'more text'), ('d3', NULL, 'untitled');
`;

const PRICED_DDL = `
  CREATE TABLE priced (id TEXT PRIMARY KEY NOT NULL, net INTEGER, tax INTEGER, gross INTEGER GENERATED ALWAYS AS (net+tax) STORED, label TEXT GENERATED ALWAYS AS (id||net) VIRTUAL);
  CREATE UNIQUE INDEX priced_gross ON priced (gross);
  INSERT INTO priced (id, net, tax) VALUES ('p', 10, 2), ('q', 20, 4), ('r', NULL, 1);
`;

const runtime: SqliteRuntime = await loadSqlite();

class Bench {
  readonly connection: Connection;
  readonly tables: TableSchema[];
  capture: TransactionCapture;

  constructor(options: { readonly generated?: boolean; readonly setUp?: string } = {}) {
    this.connection = new Connection(runtime, { path: ':memory:' });
    this.connection.exec('PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY');
    this.connection.exec(DDL);
    this.tables = [...PLAIN_TABLES];
    if (options.generated === true) {
      this.connection.exec(PRICED_DDL);
      this.tables.push(priced);
    }
    if (options.setUp !== undefined) this.connection.exec(options.setUp);
    this.capture = this.createCapture();
  }

  private createCapture(): TransactionCapture {
    return new TransactionCapture(
      this.connection,
      this.tables.map((table) => readCaptureTable(this.connection, table)),
    );
  }

  /** Alters a table the way opening a newer schema does. */
  alter(sql: string, schema: TableSchema): void {
    this.capture.close();
    this.connection.exec(sql);
    this.tables.splice(
      this.tables.findIndex(({ name }) => name === schema.name),
      1,
      schema,
    );
    this.capture = this.createCapture();
  }

  /** Captures an additional table, which `setUp` created. */
  add(schema: TableSchema): void {
    this.capture.close();
    this.tables.push(schema);
    this.capture = this.createCapture();
  }

  /** Runs statements in one transaction. A statement marked with `!` must fail, and the transaction continues. */
  transaction(...statements: readonly string[]): { captured: CapturedChanges; expected: Differences } {
    const before = takeSnapshot(this.connection, this.tables);
    this.connection.exec('BEGIN IMMEDIATE');
    this.capture.begin();
    try {
      for (const statement of statements) {
        if (!statement.startsWith('!')) this.connection.exec(statement);
        else expect(() => this.connection.exec(statement.slice(1))).toThrow(RockpoolError);
      }
      const captured = this.capture.take();
      this.capture.end();
      this.connection.exec('COMMIT');
      return { captured, expected: diffSnapshots(before, takeSnapshot(this.connection, this.tables)) };
    } catch (error) {
      this.capture.end();
      this.connection.exec('ROLLBACK');
      throw error;
    }
  }

  /** Checks that the captured changes are the difference of the tables before and after, and returns them. */
  check(...statements: readonly string[]): Differences {
    const { captured, expected } = this.transaction(...statements);
    expect(capturedDifferences(captured, this.tables)).toEqual(expected);
    return expected;
  }

  close(): void {
    this.capture.close();
    this.connection.close();
  }
}

const scenario = (name: string, statements: readonly string[], changedRows: number, setUp?: string): void =>
  it(name, () => {
    const bench = new Bench(setUp === undefined ? {} : { setUp });
    expect(Object.keys(bench.check(...statements))).toHaveLength(changedRows);
    // A second transaction captures only its own changes.
    expect(Object.keys(bench.check("INSERT INTO account (id) VALUES ('later')"))).toEqual(['account/tlater']);
    bench.close();
  });

describe('a capture records the net effect of', () => {
  scenario(
    'inserts, updates and deletes of every type of value',
    [
      "INSERT INTO account VALUES ('n', 'x', 9223372036854775807, 1e300, x'')",
      "UPDATE account SET extra = 1.5, rate = 3 WHERE id = 'a'",
      "DELETE FROM account WHERE id = 'c'",
    ],
    3,
  );
  scenario(
    'INSERT OR REPLACE that evicts by the key',
    ["INSERT OR REPLACE INTO entry VALUES ('1', 'b', 'new', NULL)"],
    1,
  );
  scenario(
    'INSERT OR REPLACE that evicts by a UNIQUE column',
    ["INSERT OR REPLACE INTO entry VALUES ('9', 'b', 'two', NULL)"],
    2,
  );
  scenario(
    'INSERT OR REPLACE that evicts two rows',
    ["INSERT OR REPLACE INTO entry VALUES ('1', 'b', 'three', NULL)"],
    2,
  );
  scenario(
    'INSERT OR REPLACE that evicts by an index on an expression',
    ["INSERT OR REPLACE INTO document VALUES ('d9', 'HELLO', 'new')"],
    2,
  );
  scenario(
    'UPDATE OR REPLACE that evicts',
    [
      "UPDATE OR REPLACE entry SET code = 'two' WHERE id = '3'",
      "UPDATE OR REPLACE document SET title = 'other' WHERE id = 'd1'",
    ],
    4,
  );
  scenario(
    'INSERT OR IGNORE and an update to the same value',
    ["INSERT OR IGNORE INTO account (id, name) VALUES ('a', 'other')", "UPDATE account SET name = name WHERE id = 'b'"],
    0,
  );
  scenario(
    'UPSERT that inserts and updates',
    [
      "INSERT INTO account (id, name, amount) VALUES ('a', 'x', 1), ('z', 'z', 2) ON CONFLICT (id) DO UPDATE SET amount = amount + excluded.amount",
    ],
    2,
  );
  scenario('UPDATE of a primary key [MR-15]', ['UPDATE pair SET "left" = 5 WHERE "left" = 1'], 4);
  scenario(
    'UPDATE that shifts primary keys',
    [
      'UPDATE pair SET "left" = "left" + 1 WHERE "right" = \'x\' AND "left" = 2',
      'UPDATE pair SET "left" = "left" + 1 WHERE "right" = \'x\' AND "left" = 1',
    ],
    3,
  );
  scenario(
    'UPDATE OR REPLACE of a primary key onto another row',
    ['UPDATE OR REPLACE pair SET "right" = \'y\' WHERE "left" = 1 AND "right" = \'x\''],
    2,
  );
  scenario(
    'UPDATE … FROM',
    ['UPDATE entry SET note = account.name FROM account WHERE account.id = entry.account_id'],
    3,
  );
  scenario('DELETE without WHERE', ['DELETE FROM pair'], 3);
  scenario(
    'tables with composite keys',
    [
      "INSERT INTO pair VALUES (3, 'z', 'v')",
      'UPDATE pair SET value = 7 WHERE "left" = 2',
      'DELETE FROM pair WHERE "right" = \'y\'',
    ],
    3,
  );
  scenario('foreign-key cascades of a delete', ["DELETE FROM account WHERE id = 'a'"], 3);
  scenario('foreign-key cascades of a changed key [MR-15]', ["UPDATE account SET id = 'aa' WHERE id = 'a'"], 4);
  scenario(
    'changes that cancel out',
    [
      "INSERT INTO account (id) VALUES ('n')",
      "UPDATE account SET name = 'q' WHERE id = 'n'",
      "DELETE FROM account WHERE id = 'n'",
      "UPDATE account SET amount = 5 WHERE id = 'a'",
      "UPDATE account SET amount = 100 WHERE id = 'a'",
      'DELETE FROM pair WHERE "left" = 2',
      "INSERT INTO pair VALUES (2, 'x', 2.5)",
    ],
    0,
  );
  scenario(
    'a row deleted and inserted again',
    ["DELETE FROM account WHERE id = 'b'", "INSERT INTO account (id, name) VALUES ('b', 'new')"],
    2,
  );
  scenario(
    'a value that only changes its type',
    [
      'UPDATE pair SET value = \'2\' WHERE "left" = 1 AND "right" = \'y\'',
      "UPDATE account SET extra = 1 WHERE id = 'a'",
    ],
    2,
  );
  scenario(
    'the app’s own triggers, on synced and local tables',
    ["UPDATE account SET amount = 1 WHERE id = 'a'", "DELETE FROM entry WHERE id = '3'"],
    3,
    `
    CREATE TRIGGER touch AFTER UPDATE ON account BEGIN UPDATE account SET name = 'touched' WHERE id = new.id; INSERT INTO local_log (what) VALUES ('touched'); END;
    CREATE TRIGGER gone BEFORE DELETE ON entry BEGIN UPDATE pair SET value = old.note WHERE "left" = 2; END;`,
  );
  scenario(
    'a trigger that inserts before the row that fires it',
    ["INSERT OR REPLACE INTO entry VALUES ('4', 'a', 'four', NULL)"],
    1,
    `
    CREATE TRIGGER guess BEFORE INSERT ON entry WHEN new.id = '4' AND NOT EXISTS (SELECT 1 FROM entry WHERE id = '5') BEGIN INSERT INTO entry VALUES ('5', 'a', 'four', 'will be evicted'); END;`,
  );
  scenario(
    'a transaction with a rolled-back savepoint',
    [
      "UPDATE account SET amount = 1 WHERE id = 'a'",
      'SAVEPOINT s',
      "UPDATE account SET amount = 2 WHERE id = 'b'",
      "DELETE FROM entry WHERE id = '1'",
      "INSERT INTO pair VALUES (7, 'n', NULL)",
      'ROLLBACK TO s',
      'RELEASE s',
      "INSERT INTO pair VALUES (8, 'n', NULL)",
    ],
    2,
  );
  scenario(
    'a statement that fails halfway',
    [
      "UPDATE account SET amount = 1 WHERE id = 'a'",
      "!INSERT INTO entry VALUES ('7', 'a', 'seven', NULL), ('8', 'a', 'one', NULL)",
      "!UPDATE entry SET code = 'same'",
    ],
    1,
  );
  scenario(
    'INSERT OR FAIL, which keeps the rows before the failure',
    ["!INSERT OR FAIL INTO entry VALUES ('7', 'a', 'seven', NULL), ('8', 'a', 'one', NULL)"],
    1,
  );
  scenario(
    'an external-content FTS table kept by triggers, without its shadow tables',
    [
      "UPDATE document SET body = 'changed words' WHERE id = 'd1'",
      "INSERT INTO document VALUES ('d4', 'Fourth', 'a fourth')",
    ],
    2,
    `
    CREATE VIRTUAL TABLE document_fts USING fts5(title, body, content='document');
    INSERT INTO document_fts (document_fts) VALUES ('rebuild');
    CREATE TRIGGER document_ai AFTER INSERT ON document BEGIN INSERT INTO document_fts (rowid, title, body) VALUES (new.rowid, new.title, new.body); END;
    CREATE TRIGGER document_ad AFTER DELETE ON document BEGIN INSERT INTO document_fts (document_fts, rowid, title, body) VALUES ('delete', old.rowid, old.title, old.body); END;
    CREATE TRIGGER document_au AFTER UPDATE ON document BEGIN
      INSERT INTO document_fts (document_fts, rowid, title, body) VALUES ('delete', old.rowid, old.title, old.body);
      INSERT INTO document_fts (rowid, title, body) VALUES (new.rowid, new.title, new.body);
    END;`,
  );

  it('a transaction that only reads', () => {
    const bench = new Bench();
    expect(bench.transaction('SELECT 1').captured).toEqual({ groups: [], before: [] });
    bench.close();
  });

  it('deletes, then updates, then inserts, so that a unique value is free before another row takes it', () => {
    const bench = new Bench();
    const { captured } = bench.transaction(
      "UPDATE account SET amount = 1 WHERE id = 'a'",
      "DELETE FROM entry WHERE code = 'one'",
      "INSERT INTO entry VALUES ('4', 'a', 'one', NULL)",
    );
    expect(captured.groups.map(({ kind }) => kind)).toEqual(['delete', 'update', 'insert']);
    bench.close();
  });

  it('a table that gains a column between two transactions', () => {
    const bench = new Bench();
    bench.check("UPDATE account SET amount = 1 WHERE id = 'a'");
    const wider = testTable('account', {
      id: 'text not null',
      colour: 'text',
      name: 'text',
      amount: 'integer',
      rate: 'real',
      extra: 'blob',
    });
    bench.alter("ALTER TABLE account ADD COLUMN colour TEXT DEFAULT 'blue'", wider);
    const differences = bench.check(
      "UPDATE account SET colour = 'red', amount = 2 WHERE id = 'a'",
      "DELETE FROM account WHERE id = 'c'",
      "INSERT INTO account (id) VALUES ('n')",
    );
    const colour = columnIdOf('colour');
    expect(differences['account/ta']?.before[colour]).toBe('blue');
    expect(differences['account/tc']?.before[colour]).toBe('blue');
    expect(differences['account/tn']?.after[colour]).toBe('blue');
    bench.close();
  });
});

it('a capture records a REAL column that was added with an integer default as a real', () => {
  const bench = new Bench();
  const wider = testTable('account', {
    id: 'text not null',
    name: 'text',
    amount: 'integer',
    rate: 'real',
    extra: 'blob',
    fee: 'real',
  });
  bench.alter('ALTER TABLE account ADD COLUMN fee REAL DEFAULT 7', wider);
  const differences = bench.check("DELETE FROM account WHERE id = 'a'", "UPDATE account SET fee = 8 WHERE id = 'b'");
  const fee = columnIdOf('fee');
  expect(differences['account/ta']?.before[fee]).toBe(7);
  expect(differences['account/tb']?.before[fee]).toBe(7);
  expect(differences['account/tb']?.after[fee]).toBe(8);
  bench.close();
});

it('a capture records a table of 120 columns', () => {
  const names = Array.from({ length: 120 }, (_, index) => `c${index}`);
  const wide = testTable('wide', {
    id: 'text not null',
    ...Object.fromEntries(names.map((name) => [name, 'text'])),
  });
  const bench = new Bench({
    setUp: `CREATE TABLE wide (id TEXT PRIMARY KEY NOT NULL, ${names.map((name) => `${name} TEXT`).join(', ')}); INSERT INTO wide (id, c5, c119) VALUES ('w', 'five', 'last')`,
  });
  bench.add(wide);
  const differences = bench.check(
    "UPDATE wide SET c119 = 'new', c64 = 'x', c31 = NULL WHERE id = 'w'",
    "INSERT INTO wide (id, c32) VALUES ('v', 'y')",
  );
  expect(Object.keys(differences)).toEqual(['wide/tw', 'wide/tv']);
  expect(Object.keys(differences['wide/tw']?.after ?? {})).toHaveLength(2);
  bench.close();
});

it('a capture rejects a write to a table WITHOUT ROWID', () => {
  const bench = new Bench({ setUp: 'CREATE TABLE keyed (id TEXT PRIMARY KEY NOT NULL, v TEXT) WITHOUT ROWID' });
  bench.add(testTable('keyed', { id: 'text not null', v: 'text' }));
  expect(() => bench.transaction("INSERT INTO keyed VALUES ('k', 'v')")).toThrow(
    expect.objectContaining({ code: 'internal' }) as Error,
  );
  expect(bench.connection.value('SELECT count(*) FROM keyed')).toBe(0);
  bench.close();
});

it('a capture rejects a table whose columns change after the transaction has written to it', () => {
  const bench = new Bench();
  expect(() =>
    bench.transaction("UPDATE entry SET note = 'x'", 'ALTER TABLE entry ADD COLUMN more TEXT', 'DELETE FROM entry'),
  ).toThrow(expect.objectContaining({ code: 'internal' }) as Error);
  bench.check("UPDATE entry SET note = 'y' WHERE id = '1'");
  bench.close();
});

describe('a capture rejects', () => {
  const rejects = (name: string, statement: string, fields: object): void =>
    it(name, () => {
      const bench = new Bench();
      let error: unknown;
      try {
        bench.transaction("UPDATE account SET amount = 1 WHERE id = 'a'", statement);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(RockpoolError);
      expect((error as RockpoolError).code).toBe('value-invalid');
      expect((error as RockpoolError).fields).toEqual(fields);
      expect(bench.connection.value("SELECT amount FROM account WHERE id = 'a'")).toBe(100);
      expect(bench.check("UPDATE account SET amount = 1 WHERE id = 'a'")).not.toEqual({});
      bench.close();
    });

  rejects('infinity', "UPDATE account SET rate = 9e999 WHERE id = 'b'", {
    problem: 'not-finite',
    table: 'account',
    column: 'rate',
  });
  rejects('infinity in a new row', "INSERT INTO account (id, rate) VALUES ('n', -9e999)", {
    problem: 'not-finite',
    table: 'account',
    column: 'rate',
  });
  rejects('text with NUL', "UPDATE account SET name = 'a' || char(0) || 'b' WHERE id = 'b'", {
    problem: 'text-nul',
    table: 'account',
    column: 'name',
  });
  rejects('text that is not UTF-8', "UPDATE account SET name = CAST(x'eda080' AS TEXT) WHERE id = 'b'", {
    problem: 'text-not-utf8',
    table: 'account',
    column: 'name',
  });
  rejects('a key that is not UTF-8', "INSERT INTO account (id) VALUES (CAST(x'ff' AS TEXT))", {
    problem: 'text-not-utf8',
    table: 'account',
    column: 'id',
  });
  rejects('a value over the limit', "UPDATE account SET extra = zeroblob(8 * 1024 * 1024 + 1) WHERE id = 'b'", {
    problem: 'too-large',
    table: 'account',
    column: 'extra',
    maxBytes: 8 * 1024 * 1024,
  });
  rejects(
    'a text over the limit in bytes',
    "UPDATE account SET name = replace(hex(zeroblob(1500 * 1024)), '0', 'ü€') WHERE id = 'b'",
    { problem: 'too-large', table: 'account', column: 'name', maxBytes: 8 * 1024 * 1024 },
  );
});

it('a capture records a DELETE without WHERE that was prepared before recording began', () => {
  const bench = new Bench();
  const { connection } = bench;
  const rows = "INSERT INTO pair VALUES (1, 'a', NULL), (2, 'b', NULL)";
  connection.exec(rows);
  connection.run('DELETE FROM pair');
  connection.exec(rows);
  connection.exec('BEGIN IMMEDIATE');
  bench.capture.begin();
  connection.run('DELETE FROM pair');
  const { groups } = bench.capture.take();
  bench.capture.end();
  connection.exec('COMMIT');
  expect(groups).toMatchObject([{ kind: 'delete', rowCount: 2 }]);
  bench.close();
});

describe('a table with generated columns', () => {
  const generated = (name: string, statements: readonly string[], changedRows: number): void =>
    it(name, () => {
      const bench = new Bench({ generated: true });
      const differences = bench.check(...statements);
      expect(Object.keys(differences)).toHaveLength(changedRows);
      const generatedIds = priced.columns.filter((column) => column.generated !== null).map(({ id }) => id);
      for (const { before, after } of Object.values(differences))
        for (const id of generatedIds) expect(id in before || id in after).toBe(false);
      bench.close();
    });

  generated(
    'captures only stored columns',
    [
      "INSERT INTO priced (id, net, tax) VALUES ('s', 1, 1)",
      "UPDATE priced SET net = 11 WHERE id = 'p'",
      "DELETE FROM priced WHERE id = 'r'",
    ],
    3,
  );
  generated(
    'captures a REPLACE that evicts by a generated column',
    ["INSERT OR REPLACE INTO priced (id, net, tax) VALUES ('s', 6, 6)"],
    2,
  );
  generated(
    'captures an UPDATE OR REPLACE that evicts by a generated column',
    ["UPDATE OR REPLACE priced SET net = 8 WHERE id = 'q'"],
    2,
  );
  generated(
    'captures key changes and upserts',
    [
      "UPDATE priced SET id = 'pp' WHERE id = 'p'",
      "INSERT INTO priced (id, net) VALUES ('q', 1) ON CONFLICT (id) DO UPDATE SET net = excluded.net",
    ],
    3,
  );
  generated('captures a DELETE without WHERE', ['DELETE FROM priced'], 3);
});

it('a capture records the difference of the tables for random statements', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(randomStatement, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
      (transactions) => {
        const bench = new Bench({ generated: true });
        for (const statements of transactions) bench.check(...statements);
        bench.close();
      },
    ),
    { numRuns: 100 },
  );
});

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const randomStatement: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom('REPLACE', 'IGNORE'), id, fc.integer({ min: 0, max: 3 }))
    .map(([way, key, n]) => `INSERT OR ${way} INTO account (id, name, amount) VALUES ('${key}', 'n${n}', ${n})`),
  fc
    .tuple(fc.constantFrom('REPLACE', 'IGNORE'), id, id, id)
    .map(
      ([way, key, ref, code]) =>
        `INSERT OR ${way} INTO entry (id, account_id, code) SELECT '${key}', '${ref}', '${code}' WHERE EXISTS (SELECT 1 FROM account WHERE id = '${ref}')`,
    ),
  fc
    .tuple(fc.constantFrom('REPLACE', 'IGNORE'), id, id)
    .map(([way, key, code]) => `UPDATE OR ${way} entry SET code = '${code}' WHERE id >= '${key}'`),
  fc.tuple(id, id).map(([from, to]) => `UPDATE OR IGNORE account SET id = '${to}' WHERE id = '${from}'`),
  fc
    .tuple(id, fc.constantFrom('1', '1.0', "'1'", "x'31'", 'NULL'))
    .map(([key, value]) => `UPDATE account SET extra = ${value} WHERE id = '${key}'`),
  id.map((key) => `DELETE FROM account WHERE id = '${key}'`),
  fc
    .tuple(fc.integer({ min: 0, max: 2 }), id)
    .map(([left, right]) => `INSERT OR REPLACE INTO pair VALUES (${left}, '${right}', ${left})`),
  fc.integer({ min: 0, max: 2 }).map((by) => `UPDATE OR REPLACE pair SET "left" = "left" + ${by} WHERE "left" < 2`),
  fc.constant('DELETE FROM pair'),
  fc
    .tuple(fc.constantFrom('REPLACE', 'IGNORE'), id, id)
    .map(([way, key, title]) => `INSERT OR ${way} INTO document VALUES ('${key}', upper('${title}'), 'x')`),
  fc
    .tuple(id, id)
    .map(
      ([key, title]) =>
        `INSERT INTO document (id, title) VALUES ('${key}', NULL) ON CONFLICT (id) DO UPDATE SET body = body || '${title}'`,
    ),
  fc
    .tuple(fc.constantFrom('REPLACE', 'IGNORE'), id, fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }))
    .map(([way, key, net, tax]) => `INSERT OR ${way} INTO priced (id, net, tax) VALUES ('${key}', ${net}, ${tax})`),
  fc
    .tuple(id, fc.integer({ min: 0, max: 4 }))
    .map(([key, net]) => `UPDATE OR REPLACE priced SET net = ${net} WHERE id <= '${key}'`),
  fc.constantFrom(
    'SAVEPOINT s',
    'SAVEPOINT s; DELETE FROM entry; ROLLBACK TO s; RELEASE s',
    'SAVEPOINT s; DELETE FROM account; ROLLBACK TO s; RELEASE s',
    "SAVEPOINT s; INSERT OR REPLACE INTO account (id) VALUES ('a'), ('x'); ROLLBACK TO s; RELEASE s",
  ),
);
