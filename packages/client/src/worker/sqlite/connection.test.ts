import { describe, expect, it } from 'vitest';
import { RockpoolError, type CellValue } from '@rockpool/shared';
import type { SqlParam } from '../../rpc/sql-value.ts';
import { ACTION_CREATE_TABLE, ACTION_INSERT, type SqlPolicy } from './authorizer.ts';
import { Connection } from './connection.ts';
import { loadSqlite } from './load-sqlite.node.ts';

const runtime = await loadSqlite();

function open(): Connection {
  return new Connection(runtime, { path: ':memory:' });
}

function failure(action: () => unknown): RockpoolError {
  try {
    action();
  } catch (error) {
    if (error instanceof RockpoolError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('values', () => {
  const exact: readonly CellValue[] = [
    null,
    0n,
    1n,
    -1n,
    2n ** 31n,
    -(2n ** 31n) - 1n,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    0.5,
    1,
    -1e300,
    5e-324,
    Infinity,
    '',
    'plain',
    'exactly thirty-two letters long!',
    'a text that is longer than thirty-two letters',
    'ünï',
    '\uFEFFmark',
    'with\u0000nul',
    '😀'.repeat(40_000),
    'é'.repeat(30_000),
    new Uint8Array(0),
    new Uint8Array([0, 255, 1]),
    new Uint8Array(200_000).fill(7),
  ];

  it('are returned exactly as they were bound', () => {
    const connection = open();
    const statement = connection.prepare('SELECT ?1');
    for (const value of exact) {
      statement.bindCell(1, value);
      expect(statement.step()).toBe(true);
      expect(statement.readCell(0)).toStrictEqual(value);
      statement.reset();
    }
    connection.close();
  });

  it('are bound as INTEGER for safe integers and as REAL for other numbers of the API', () => {
    const connection = open();
    const typeOf = (value: SqlParam): unknown => connection.value('SELECT typeof(?1)', value);
    expect([1, -5, 2 ** 40, -(2 ** 40) - 3, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER].map(typeOf)).toEqual(
      Array(6).fill('integer'),
    );
    expect([0.5, 2 ** 53, -0, 1e300].map(typeOf)).toEqual(Array(4).fill('real'));
    expect(connection.rows('SELECT ?1, ?2, ?3, ?4', true, false, 2n ** 62n, -(2 ** 40) - 3)).toEqual([
      [1, 0, 2n ** 62n, -(2 ** 40) - 3],
    ]);
    expect(connection.rows('SELECT 9007199254740991, 9007199254740992, -9007199254740993')).toEqual([
      [9007199254740991, 2n ** 53n, -(2n ** 53n) - 1n],
    ]);
    connection.close();
  });

  it('are rejected if SQLite cannot store them', () => {
    const connection = open();
    const problemOf = (value: unknown): unknown => {
      const error = failure(() => connection.value('SELECT ?1', value as SqlParam));
      return [error.code, error.fields['problem']];
    };
    expect(problemOf(undefined)).toEqual(['value-invalid', 'the type of the value is not supported']);
    expect(problemOf(new Date(0))).toEqual(['value-invalid', 'the type of the value is not supported']);
    expect(problemOf(NaN)).toEqual(['value-invalid', 'not-a-number']);
    expect(problemOf(2n ** 63n)).toEqual(['value-invalid', 'integer-range']);
    expect(problemOf('\uD800')).toEqual(['value-invalid', 'text-surrogate']);
    expect(problemOf(`${'x'.repeat(40)}\uD800`)).toEqual(['value-invalid', 'text-surrogate']);
    expect(problemOf(`${'x'.repeat(100_000)}\uD800`)).toEqual(['value-invalid', 'text-surrogate']);
    connection.close();
  });

  it('survive growth of the memory between writing and reading', () => {
    const connection = open();
    connection.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)');
    const block = new Uint8Array(1_000_000).fill(3);
    for (let i = 0; i < 60; i++) connection.run('INSERT INTO t (b) VALUES (?)', block);
    expect(connection.value('SELECT sum(length(b)) FROM t')).toBe(60_000_000);
    expect(connection.value('SELECT b FROM t WHERE id = 60')).toEqual(block);
    connection.close();
  });
});

describe('statements', () => {
  it('are cached and reused by their SQL', () => {
    const connection = open();
    const first = connection.prepare('SELECT 1');
    const second = connection.prepare('SELECT 1');
    expect(second).not.toBe(first);
    first.release();
    second.release();
    expect(connection.prepare('SELECT 1')).toBe(first);
    connection.close();
  });

  it('lose their bindings when they are released', () => {
    const connection = open();
    connection.rows('SELECT ?1', 'secret');
    const statement = connection.prepare('SELECT ?1');
    statement.step();
    expect(statement.readValue(0)).toBe(null);
    connection.close();
  });

  it('stay usable when there are more than the cache holds', () => {
    const connection = open();
    for (let i = 0; i < 500; i++) expect(connection.value(`SELECT ${i}`)).toBe(i);
    expect(connection.value('SELECT 0')).toBe(0);
    connection.close();
  });

  it('are rejected if the SQL has no statement or several, or if the number of parameters is wrong', () => {
    const connection = open();
    expect(failure(() => connection.prepare('SELECT 1; SELECT 2')).fields['problem']).toBe(
      'the SQL contains more than one statement',
    );
    expect(failure(() => connection.prepare(' -- nothing\n ;')).fields['problem']).toBe(
      'the SQL contains no statement',
    );
    expect(connection.value('SELECT 1; -- end\n /* of it */ ;')).toBe(1);
    expect(failure(() => connection.value('SELECT ?1, ?2', 1)).fields).toEqual({
      problem: 'the number of parameters is wrong',
      expected: 2,
      given: 1,
    });
    connection.close();
  });

  it('can run again after an error', () => {
    const connection = open();
    connection.exec('CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL)');
    connection.run('INSERT INTO t VALUES (?)', 'a');
    failure(() => connection.run('INSERT INTO t VALUES (?)', 'a'));
    connection.run('INSERT INTO t VALUES (?)', 'b');
    expect(connection.rows('SELECT id FROM t ORDER BY id')).toEqual([['a'], ['b']]);
    connection.close();
  });
});

describe('a closed connection', () => {
  it('rejects every call, even if another connection uses its memory', () => {
    const closed = open();
    const { handle } = closed;
    closed.exec('CREATE TABLE t (id)');
    const statement = closed.prepare('SELECT count(*) FROM t');
    closed.close();
    const next = open();
    expect(next.handle).toBe(handle);
    next.exec('CREATE TABLE t (id)');

    for (const call of [
      (): unknown => closed.value('SELECT count(*) FROM t'),
      (): unknown => closed.rows('SELECT count(*) FROM t'),
      (): unknown => closed.run('INSERT INTO t VALUES (1)'),
      (): unknown => closed.exec('INSERT INTO t VALUES (1)'),
      (): unknown => statement.step(),
    ])
      expect(failure(call).code).toBe('internal');
    expect(() => statement.release()).not.toThrow();
    expect(next.value('SELECT count(*) FROM t')).toBe(0);
    next.close();
    closed.close();
  });
});

describe('errors', () => {
  const connection = open();
  connection.exec(`
    CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a INTEGER NOT NULL, b TEXT, c INTEGER CONSTRAINT positive CHECK (c > 0), p TEXT REFERENCES p, UNIQUE (a, b));
    CREATE UNIQUE INDEX t_lower ON t (lower(b)) WHERE c IS NOT NULL;
    CREATE TABLE strict_t (id TEXT PRIMARY KEY NOT NULL, n INTEGER) STRICT;
    CREATE TABLE numbered (id INTEGER PRIMARY KEY, a);
    CREATE TRIGGER no_secrets BEFORE INSERT ON t WHEN new.b = 'secret' BEGIN SELECT RAISE(ABORT, 'no secret'); END;
    INSERT INTO t VALUES ('k', 1, 'x', 1, NULL);
    INSERT INTO numbered VALUES (1, 1);
  `);
  connection.setForeignKeys(true);
  const run = (sql: string): [string, unknown] => {
    const error = failure(() => connection.run(sql));
    expect(JSON.stringify(error.toData())).not.toContain('secret');
    return [error.code, error.fields];
  };

  it('name table and columns of a violated constraint', () => {
    expect(run("INSERT INTO t VALUES ('k', 2, 'secretive', 1, NULL)")).toEqual([
      'constraint-primary-key',
      { table: 't', columns: 'id' },
    ]);
    expect(run('INSERT INTO numbered VALUES (1, 2)')).toEqual([
      'constraint-primary-key',
      { table: 'numbered', columns: 'id' },
    ]);
    expect(run("INSERT INTO t (id, a, b) VALUES ('l', 6, 'y'), ('m', 6, 'y')")).toEqual([
      'constraint-unique',
      { table: 't', columns: 'a, b' },
    ]);
    expect(run("INSERT INTO t VALUES ('l', 3, 'X', 1, NULL)")).toEqual([
      'constraint-unique',
      { table: 't', constraint: "index 't_lower'" },
    ]);
    expect(run("INSERT INTO t VALUES ('l', NULL, 'secretive', 1, NULL)")).toEqual([
      'constraint-not-null',
      { table: 't', columns: 'a' },
    ]);
    expect(run("INSERT INTO t VALUES ('l', 5, 'secretive', -1, NULL)")).toEqual([
      'constraint-check',
      { table: 't', constraint: 'positive' },
    ]);
    expect(run("INSERT INTO t VALUES ('l', 5, 'secretive', 1, 'secretive')")).toEqual([
      'constraint-foreign-key',
      { table: 't' },
    ]);
    expect(run("INSERT INTO strict_t VALUES ('l', 'secretive')")).toEqual([
      'constraint-data-type',
      { table: 'strict_t', columns: 'n' },
    ]);
    expect(run("INSERT INTO numbered VALUES ('secretive', 1)")).toEqual([
      'constraint-data-type',
      { table: 'numbered', sqliteCode: 20 },
    ]);
  });

  it('omit the text of triggers', () => {
    expect(run("INSERT INTO t VALUES ('m', 5, 'secret', 1, NULL)")).toEqual(['constraint-trigger', {}]);
  });

  it('report what is wrong in SQL and where, without quoting literals', () => {
    expect(run('SELECT * FROM nowhere')).toEqual([
      'query-invalid',
      { sqliteCode: 1, detail: 'no such table: nowhere' },
    ]);
    expect(run('SELECT missing FROM t')).toEqual([
      'query-invalid',
      { sqliteCode: 1, detail: 'no such column: missing', offset: 7 },
    ]);
    expect(run('SELEC 1')).toEqual([
      'query-invalid',
      { sqliteCode: 1, detail: 'near "SELEC": syntax error', offset: 0 },
    ]);
    expect(run('INSERT INTO t (id) VALUES (1, 2)')).toEqual([
      'query-invalid',
      { sqliteCode: 1, detail: '2 values for 1 columns' },
    ]);
    expect(run("SELECT 1 'secret' 'secret'")).toEqual(['query-invalid', { sqliteCode: 1, offset: 18 }]);
    expect(run("SELECT 'secret")).toEqual(['query-invalid', { sqliteCode: 1, offset: 7 }]);
  });

  it('omit what SQLite quotes at run time', () => {
    expect(run("SELECT json_extract('{}', 'secret')")).toEqual(['query-invalid', { sqliteCode: 1 }]);
    expect(run('SELECT abs(-9223372036854775808)')).toEqual([
      'query-invalid',
      { sqliteCode: 1, detail: 'integer overflow' },
    ]);
  });

  it('report the reason of a storage failure', () => {
    const full = new RockpoolError('storage-full', { neededBytes: 5 });
    const small = new Connection(runtime, { path: ':memory:', storageError: () => full });
    small.exec('PRAGMA max_page_count = 2; CREATE TABLE t (b BLOB)');
    expect(failure(() => small.run('INSERT INTO t VALUES (zeroblob(100000))'))).toBe(full);
    small.close();
    const missing = failure(() => new Connection(runtime, { path: 'x', vfsName: 'no such vfs' }));
    expect([missing.code, missing.fields]).toEqual(['internal', { problem: 'SQLite has no VFS with this name' }]);
  });
});

describe('policies', () => {
  const noTables: SqlPolicy = {
    name: 'no tables',
    refuse: ({ code, first, trigger }) =>
      code === ACTION_CREATE_TABLE || (code === ACTION_INSERT && first === 'guarded')
        ? new RockpoolError('sql-forbidden', { table: first, inTrigger: trigger !== '' })
        : null,
  };

  it('reject with their own error, also in triggers', () => {
    const connection = open();
    connection.exec(
      'CREATE TABLE guarded (a); CREATE TABLE t (a); CREATE TRIGGER spill AFTER INSERT ON t BEGIN INSERT INTO guarded VALUES (1); END',
    );
    expect(failure(() => connection.prepare('CREATE TABLE u (a)', noTables)).fields).toEqual({
      table: 'u',
      inTrigger: false,
    });
    expect(failure(() => connection.prepare('INSERT INTO t VALUES (1)', noTables)).fields).toEqual({
      table: 'guarded',
      inTrigger: true,
    });
    connection.prepare('SELECT * FROM guarded', noTables).release();
    connection.run('INSERT INTO t VALUES (1)');
    expect(connection.rows('SELECT * FROM guarded')).toEqual([[1]]);
    connection.close();
  });

  it('apply again when the schema changes under a cached statement', () => {
    const connection = open();
    connection.exec('CREATE TABLE guarded (a); CREATE TABLE t (a)');
    const statement = connection.prepare('INSERT INTO t VALUES (1)', noTables);
    statement.run();
    connection.exec('CREATE TRIGGER spill AFTER INSERT ON t BEGIN INSERT INTO guarded VALUES (1); END');
    expect(failure(() => connection.underPolicy(noTables, () => statement.run())).code).toBe('sql-forbidden');
    connection.close();
  });

  it('record which tables a statement writes, including foreign-key actions and triggers', () => {
    const connection = open();
    connection.setForeignKeys(true);
    connection.exec(`
      CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE c (id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES p ON DELETE CASCADE);
      CREATE TABLE log (a);
      CREATE TRIGGER c_gone AFTER DELETE ON c BEGIN INSERT INTO log VALUES (1); END`);
    const all: SqlPolicy = { name: 'all', refuse: () => null };
    for (const policy of [all, undefined]) {
      expect([...connection.prepare('DELETE FROM p', policy).tablesWritten].sort()).toEqual(['c', 'log', 'p']);
      expect([...connection.prepare('SELECT * FROM p', policy).tablesWritten]).toEqual([]);
    }
    connection.prepare('DELETE FROM c').release();
    connection.tablesWritten.clear();
    connection.prepare('DELETE FROM c').release();
    expect([...connection.tablesWritten].sort()).toEqual(['c', 'log']);
    connection.close();
  });
});

describe('switches', () => {
  it('turn triggers and foreign keys off and on', () => {
    const connection = open();
    connection.exec(
      'CREATE TABLE t (a); CREATE TABLE log (a); CREATE TRIGGER tt AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1); END',
    );
    connection.setTriggers(false);
    connection.run('INSERT INTO t VALUES (1)');
    connection.setTriggers(true);
    connection.run('INSERT INTO t VALUES (1)');
    expect(connection.value('SELECT count(*) FROM log')).toBe(1);
    connection.setForeignKeys(true);
    expect(connection.value('PRAGMA foreign_keys')).toBe(1);
    connection.setForeignKeys(false);
    expect(connection.value('PRAGMA foreign_keys')).toBe(0);
    connection.exec('BEGIN');
    expect(connection.inTransaction).toBe(true);
    connection.exec('ROLLBACK');
    expect(connection.inTransaction).toBe(false);
    connection.close();
  });

  it('apply to the same SQL each time it runs, and compile each statement once', () => {
    const connection = open();
    connection.exec(`
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE c (id INTEGER PRIMARY KEY, p INTEGER REFERENCES p);
      CREATE TABLE log (a);
      CREATE TRIGGER c_new AFTER INSERT ON c BEGIN INSERT INTO log VALUES (new.id); END`);
    const statements = new Set<unknown>();
    const insert = (id: number): void => {
      const statement = connection.prepare('INSERT INTO c VALUES (?, 9)');
      statements.add(statement);
      try {
        statement.run(id);
      } finally {
        statement.release();
      }
    };
    for (let id = 0; id < 6; id += 2) {
      connection.setTriggers(false);
      insert(id);
      connection.setTriggers(true);
      connection.setForeignKeys(true);
      expect(failure(() => insert(id + 1)).code).toBe('constraint-foreign-key');
      connection.setForeignKeys(false);
      insert(id + 1);
    }
    expect(connection.rows('SELECT a FROM log')).toEqual([[1], [3], [5]]);
    expect(statements.size).toBe(3);
    connection.close();
  });

  it('cannot change in a transaction', () => {
    const connection = open();
    connection.exec('BEGIN');
    expect(failure(() => connection.setForeignKeys(true)).code).toBe('internal');
    connection.exec('ROLLBACK');
    expect(connection.value('PRAGMA foreign_keys')).toBe(0);
    connection.close();
  });
});
