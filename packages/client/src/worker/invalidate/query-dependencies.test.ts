import { buildSchema, DEFAULT_TOKENIZE } from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { expect, it } from 'vitest';
import { mayAffect, type Touched } from '../../rpc/query-dependencies.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory, openStored } from '../../../testing/worker/test-database.ts';

it('the dependencies of a query are computed again after a schema change', () => {
  const database = openInMemory();
  const lookups = () =>
    database.dependencies({ sql: 'SELECT id FROM account WHERE amount = ?', params: [1] })[0]?.lookups;
  expect(lookups()).toBeNull();
  database.connection.exec('CREATE INDEX account_amount ON account (amount)');
  expect(lookups()).toEqual([{ column: 'amount', key: 'number:1' }]);
  // Replaces the index with one on a different column.
  database.connection.exec('DROP INDEX account_amount; CREATE INDEX account_extra ON account (extra)');
  expect(lookups()).toBeNull();
  database.close();
});

const NAMES_OF = {
  account: 'CREATE VIEW names AS SELECT id FROM account',
  entry: 'CREATE VIEW names AS SELECT id FROM entry',
};
const READ_NAMES = { sql: 'SELECT * FROM names', params: [] };

it('the dependencies of a query follow a view that another connection has redefined', async () => {
  const medium = memoryMedium();
  const writer = await openStored(medium);
  const write = (...sqls: string[]): unknown =>
    writer.database.write({ id: sqls.join(), statements: sqls.map((sql) => ({ sql, params: [] })) }).touchedTables;
  write(NAMES_OF.account);
  const reader = await openStored(medium, { role: 'reader' });
  const tables = (): string[] => reader.database.dependencies(READ_NAMES).map(({ table }) => table);
  expect(tables()).toContain('account');
  write('DROP VIEW names', NAMES_OF.entry);
  expect(tables()).toContain('entry');
  expect(tables()).not.toContain('account');
  await reader.close();
  await writer.close();
});

it.each([
  'SELECT count(*) FROM entry JOIN entry AS other USING (account_id)',
  "SELECT count(*) FROM entry NATURAL JOIN (SELECT 'b' AS account_id)",
  'SELECT count(*) FROM pairs',
])('a query that joins by the names of columns depends on these columns: %s', (sql) => {
  const database = openInMemory();
  const write = (...sqls: string[]): Touched => {
    const { touchedTables: tables, changes } = database.write({
      id: sqls.join(),
      statements: sqls.map((text) => ({ sql: text, params: [] })),
    });
    return { tables, changes };
  };
  write(
    'CREATE VIEW pairs AS SELECT entry.note FROM entry JOIN entry AS other USING (account_id)',
    "INSERT INTO account (id, name) VALUES ('a', 'a'), ('b', 'b')",
    "INSERT INTO entry (id, account_id) VALUES ('1', 'a'), ('2', NULL)",
  );
  const query = { sql, params: [] };
  const count = (): unknown => decodeRows(database.query(sql, []));
  const [before, dependencies] = [count(), database.dependencies(query)];
  const touched = write("UPDATE entry SET account_id = 'b' WHERE id = '2'");
  expect(count()).not.toEqual(before);
  expect(mayAffect(touched, dependencies)).toBe(true);
  database.close();
});

it('a query by rowid depends on any row of a table whose key is not the rowid', () => {
  const database = openInMemory();
  database.connection.exec(
    'CREATE TABLE pair (a INTEGER, b TEXT, PRIMARY KEY (a, b)); CREATE TABLE single (id INTEGER PRIMARY KEY)',
  );
  const lookups = (table: string): unknown =>
    database.dependencies({ sql: `SELECT count(*) FROM ${table} WHERE rowid = ?`, params: [7] })[0]?.lookups;
  expect(lookups('pair')).toBeNull();
  expect(lookups('single')).toEqual([{ column: 'id', key: 'number:7' }]);
  database.close();
});

it('a query depends on a table by its name in the schema, in whatever case a migration has created it', () => {
  const sql = 'CREATE TABLE Todo (id TEXT NOT NULL PRIMARY KEY, title TEXT)';
  const database = openInMemory({
    schema: buildSchema([testTable('todo', { id: 'text not null', title: 'text' })]),
    migrations: [{ tag: '0000', sql }],
  });
  expect(database.dependencies({ sql: 'SELECT title FROM todo', params: [] })).toMatchObject([{ table: 'todo' }]);
  database.close();
});

it('a write to a local table reaches its queries, in whatever case a migration has created it', () => {
  const database = openInMemory({
    schema: buildSchema([
      testTable(
        'drafts',
        { id: 'text not null', body: 'text' },
        { synced: false, searchIndexes: [{ name: 'draft_search', columns: ['body'], tokenize: DEFAULT_TOKENIZE }] },
      ),
    ]),
    migrations: [{ tag: '0000', sql: 'CREATE TABLE Drafts (id TEXT NOT NULL PRIMARY KEY, body TEXT)' }],
  });
  const queries = ['SELECT body FROM drafts', 'SELECT body FROM draft_search'];
  const dependencies = queries.map((sql) => database.dependencies({ sql, params: [] }));
  const { touchedTables, changes } = database.write({
    id: 'w',
    statements: [{ sql: "INSERT INTO drafts VALUES ('a', 'x')", params: [] }],
  });
  expect(dependencies.map((one) => mayAffect({ tables: touchedTables, changes }, one))).toEqual([true, true]);
  database.close();
});

it.each(['stored', 'virtual'])('a query of a %s generated column runs again after an update of its source', (kind) => {
  const database = openInMemory({
    schema: buildSchema([
      testTable('priced', { id: 'text not null', net: 'integer', gross: `integer as net*2 ${kind}` }),
    ]),
  });
  const write = (sql: string): Touched => {
    const { touchedTables: tables, changes } = database.write({ id: sql, statements: [{ sql, params: [] }] });
    return { tables, changes };
  };
  write("INSERT INTO priced (id, net) VALUES ('a', 1)");
  const dependencies = database.dependencies({ sql: 'SELECT max(gross) FROM priced', params: [] });
  expect(mayAffect(write("UPDATE priced SET net = 2 WHERE id = 'a'"), dependencies)).toBe(true);
  database.close();
});
