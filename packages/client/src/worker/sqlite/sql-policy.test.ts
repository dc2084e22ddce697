import { buildSchema, RockpoolError } from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory, openStored } from '../../../testing/worker/test-database.ts';

let request = 0;

function failure(action: () => unknown): RockpoolError {
  try {
    action();
  } catch (error) {
    if (error instanceof RockpoolError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function write(database: OpenDatabase, ...statements: string[]): ReturnType<OpenDatabase['write']> {
  return database.write({ id: `request ${++request}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

const captured = (database: OpenDatabase): number => database.changelog.head().sequence;

/** `account` is synced, `draft` local, `entry_search` a search index. */
function rejects(sql: string, fields: object): void {
  it(sql, () => {
    const database = openInMemory();
    const before = database.connection.rows(
      'SELECT name FROM sqlite_schema UNION ALL SELECT name FROM sqlite_temp_schema',
    );
    const error = failure(() => write(database, sql));
    expect([error.code, error.fields]).toEqual(['sql-forbidden', fields]);
    expect(
      database.connection.rows('SELECT name FROM sqlite_schema UNION ALL SELECT name FROM sqlite_temp_schema'),
    ).toEqual(before);
    database.close();
  });
}

describe('a name that would shadow a declared table is rejected, however it is written', () => {
  for (const name of ['account', 'ACCOUNT', 'draft', 'entry_search']) {
    for (const sql of [
      `CREATE TEMP TABLE ${name} (id)`,
      `CREATE TEMPORARY TABLE IF NOT EXISTS ${name} (id)`,
      `CREATE TABLE temp.${name} (id)`,
      `CREATE TABLE "temp"."${name}" AS SELECT 1 AS id`,
      `CREATE TABLE TEMP.${name} (id)`,
      `CREATE TEMP VIEW ${name} AS SELECT 1`,
      `CREATE VIEW temp.${name} AS SELECT 1`,
      `CREATE VIRTUAL TABLE temp.${name} USING fts5(id)`,
    ]) {
      rejects(sql, { problem: 'name-taken', name: name.toLowerCase() });
    }
  }

  it('ALTER TABLE temp.scratch RENAME TO account', () => {
    const database = openInMemory();
    write(database, 'CREATE TEMP TABLE scratch (id)');
    expect(failure(() => write(database, 'ALTER TABLE temp.scratch RENAME TO account')).fields).toEqual({
      problem: 'schema',
      table: 'scratch',
    });
    expect(write(database, "INSERT INTO account (id) VALUES ('a')").sequence).toBe(1);
    database.close();
  });

  rejects("ATTACH ':memory:' AS other", { problem: 'attach' });
});

describe('a trigger on a table that allows no triggers is rejected', () => {
  rejects('CREATE TEMP TRIGGER t AFTER INSERT ON account BEGIN DELETE FROM draft; END', {
    problem: 'temp-trigger',
    table: 'account',
  });
  rejects('CREATE TRIGGER temp.t AFTER INSERT ON account BEGIN DELETE FROM draft; END', {
    problem: 'temp-trigger',
    table: 'account',
  });
  rejects('CREATE TRIGGER t AFTER INSERT ON rockpool_changelog BEGIN DELETE FROM rockpool_changelog; END', {
    problem: 'internal-table',
    table: 'rockpool_changelog',
  });
  rejects('CREATE TEMP TRIGGER t AFTER INSERT ON rockpool_changelog BEGIN DELETE FROM draft; END', {
    problem: 'internal-table',
    table: 'rockpool_changelog',
  });
  rejects('CREATE TEMP TRIGGER t AFTER INSERT ON rockpool_search_0 BEGIN DELETE FROM draft; END', {
    problem: 'internal-table',
    table: 'rockpool_search_0',
  });
  rejects('CREATE TEMP TRIGGER t AFTER UPDATE ON ROCKPOOL_META BEGIN SELECT 1; END', {
    problem: 'internal-table',
    table: 'rockpool_meta',
  });

  it('an existing trigger on an internal table is dropped when the database opens', async () => {
    const medium = memoryMedium();
    const first = await openStored(medium);
    first.database.connection.exec(
      `CREATE TRIGGER gone AFTER INSERT ON rockpool_changelog BEGIN DELETE FROM rockpool_changelog; END`,
    );
    await first.close();
    const { database, close } = await openStored(medium);
    expect(write(database, "INSERT INTO account (id) VALUES ('a')").sequence).toBe(1);
    expect(database.connection.value('SELECT count(*) FROM rockpool_changelog')).toBe(1);
    await close();
  });
});

describe('a table that would never be synced is rejected', () => {
  rejects('CREATE TABLE todo (id TEXT PRIMARY KEY)', { problem: 'undeclared-table', table: 'todo' });
  rejects('CREATE TABLE main.todo (id)', { problem: 'undeclared-table', table: 'todo' });
  rejects('CREATE TABLE todo AS SELECT * FROM account', { problem: 'undeclared-table', table: 'todo' });
  rejects('CREATE VIRTUAL TABLE words USING fts5(body)', { problem: 'undeclared-table', table: 'words' });

  it('allows writes through TEMP tables, views and triggers of the app, and captures them', () => {
    const database = openInMemory();
    write(database, 'CREATE TEMP TABLE scratch (id, name)', 'CREATE VIRTUAL TABLE temp.words USING fts5(body)');
    write(
      database,
      'CREATE VIEW names AS SELECT id, name FROM account',
      'CREATE TRIGGER names_insert INSTEAD OF INSERT ON names BEGIN INSERT INTO account (id, name) VALUES (new.id, new.name); END',
    );
    write(
      database,
      'CREATE TEMP TRIGGER scratch_insert AFTER INSERT ON scratch BEGIN INSERT INTO account (id, name) VALUES (new.id, new.name); END',
    );
    write(
      database,
      'CREATE TRIGGER account_insert AFTER INSERT ON account BEGIN INSERT INTO draft (text) VALUES (new.name); END',
    );
    expect(write(database, "INSERT INTO names VALUES ('a', 'by view')").sequence).toBe(1);
    expect(write(database, "INSERT INTO scratch VALUES ('b', 'by trigger')").sequence).toBe(2);
    expect(database.connection.rows('SELECT id FROM account ORDER BY id')).toEqual([['a'], ['b']]);
    expect(database.connection.value('SELECT count(*) FROM draft')).toBe(2);
    database.close();
  });
});

describe('DELETE without WHERE is captured row by row', () => {
  const DELETE = 'DELETE FROM account';
  const rows = "INSERT INTO account (id) VALUES ('a'), ('b'), ('c')";
  const deleted = (database: OpenDatabase): number =>
    database.changelog.read(captured(database))?.groups.find(({ kind }) => kind === 'delete')?.rowCount ?? 0;

  it('in repeated writes, and in an open transaction', () => {
    const database = openInMemory();
    for (let round = 0; round < 3; round++) {
      write(database, rows);
      write(database, DELETE);
      expect(deleted(database)).toBe(3);
    }
    write(database, rows);
    expect(failure(() => database.query(DELETE, [])).code).toBe('sql-read-only');
    const transaction = database.begin({ atomic: false });
    transaction.execute({ sql: DELETE, params: [] });
    transaction.commit('open');
    expect(deleted(database)).toBe(3);
    database.close();
  });
});

describe('the error of a constraint names its table', () => {
  it.each([
    [
      "INSERT INTO entry (id, account_id) VALUES ('e', 'nobody')",
      'constraint-foreign-key',
      { table: 'entry', foreignTable: 'account' },
    ],
    [
      "INSERT INTO account (id, name) VALUES ('a', 'x'), ('b', 'x')",
      'constraint-unique',
      { table: 'account', columns: 'name' },
    ],
    ["INSERT INTO draft (id, text) VALUES ('no number', 'x')", 'constraint-data-type', { table: 'draft' }],
  ])('%s', (sql, code, fields) => {
    const database = openInMemory();
    expect(failure(() => write(database, 'PRAGMA defer_foreign_keys = ON', sql))).toMatchObject({ code, fields });
    database.close();
  });

  it('even if the constraint is not deferred until COMMIT', () => {
    const database = openInMemory();
    expect(failure(() => write(database, "INSERT INTO entry (id, account_id) VALUES ('e', 'nobody')"))).toMatchObject({
      code: 'constraint-foreign-key',
      fields: { table: 'entry' },
    });
    database.close();
  });
});

describe('a trigger that changes rowids', () => {
  // `number` is the rowid of `line`.
  const schema = buildSchema([
    testTable('mark', { id: 'text not null', list: 'text' }),
    testTable(
      'line',
      { number: 'integer not null', list: 'text' },
      { primaryKey: ['number'], synced: false, uniques: [['list']] },
    ),
  ]);

  for (const [table, conflict, rowid] of [
    ['mark', 'id', 'rowid'],
    ['line', 'list', 'rowid'],
    ['line', 'list', '_rowid_'],
    ['line', 'list', 'Number'],
  ] as const)
    it(`is rejected with the statement that fires it: ${rowid} of ${table}`, () => {
      const database = openInMemory({ schema });
      const insert = (values: string): string =>
        `INSERT INTO ${table} (${table === 'mark' ? 'id' : 'number'}, list) VALUES ${values}`;
      write(database, insert(`(1, 'a'), (2, 'b')`));
      write(
        database,
        `CREATE TRIGGER moves BEFORE UPDATE ON ${table} BEGIN UPDATE ${table} SET ${rowid} = ${rowid} + 100; END`,
      );
      // Without the rejection SQLite writes rows in the wrong order, and a later read finds the file damaged.
      const upsert = insert(
        `(1, 'a'), (2, 'b'), (3, 'c') ON CONFLICT (${conflict}) DO UPDATE SET list = excluded.list`,
      );
      for (const sql of [upsert, `UPDATE ${table} SET list = 'x'`]) {
        const error = failure(() => write(database, sql));
        expect([error.code, error.fields]).toEqual(['sql-forbidden', { problem: 'rowid', table }]);
      }
      expect(database.connection.rows('PRAGMA integrity_check')).toEqual([['ok']]);
      database.close();
    });

  it('does not affect a statement of the app itself, nor a trigger on other columns', () => {
    const database = openInMemory({ schema });
    write(database, "INSERT INTO mark (id) VALUES ('a')", 'INSERT INTO line (number) VALUES (1)');
    write(database, "CREATE TRIGGER notes BEFORE UPDATE ON line BEGIN UPDATE mark SET list = 'seen'; END");
    write(database, 'UPDATE mark SET rowid = 7', 'UPDATE line SET number = 7');
    expect(database.connection.rows('SELECT rowid, list FROM mark')).toEqual([[7, 'seen']]);
    database.close();
  });
});
