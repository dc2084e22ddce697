import { join } from 'node:path';
import { buildSchema, DEFAULT_DOCUMENT_RULE, type CellValue, type Schema, type TableSchema } from '@rockpool/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNTS, column, ENTRIES, LABELS, table, TEST_SCHEMA, TEST_TABLES } from '../../testing/test-schema.ts';
import { openDatabaseFile } from './database-file.ts';
import { STORAGE_FORMAT } from '../sqlite/internal-tables.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'a.sqlite');
});

function open(schema: Schema): Uint8Array {
  const file = openDatabaseFile(path, schema);
  file.sql.close();
  return file.logEpoch.id;
}

function query(sql: string): readonly (readonly CellValue[])[] {
  const file = new SqliteFile(path);
  try {
    return file.all(sql);
  } finally {
    file.close();
  }
}

const withAccounts = (changes: Partial<TableSchema>): Schema =>
  buildSchema([{ ...ACCOUNTS, ...changes }, ...TEST_TABLES.filter((one) => one !== ACCOUNTS)]);

describe('opening a database file', () => {
  it('keeps its log epoch, and makes each commit sync the log', () => {
    const logEpoch = open(TEST_SCHEMA);
    expect(open(TEST_SCHEMA)).toEqual(logEpoch);
    expect(query('PRAGMA journal_mode')).toEqual([['wal']]);
    const file = new SqliteFile(path);
    expect(file.get('PRAGMA synchronous')).toEqual([2n]); // FULL
    file.close();
  });

  it('creates an index for each foreign key, because deleting a parent needs it', () => {
    open(TEST_SCHEMA);
    expect(
      query(`SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name LIKE 'rockpool_foreign_key_%'`),
    ).toEqual([[11n]]);
  });

  it('rejects a file that another program wrote, without changing it', () => {
    const other = new SqliteFile(path);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    expect(() => open(TEST_SCHEMA)).toThrow(expect.objectContaining({ code: 'database-unavailable' }));
    expect(query('SELECT name FROM sqlite_schema')).toEqual([['theirs']]);
  });

  const layout = (): unknown => [
    ...query(
      `SELECT tables.name, columns.name FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns WHERE tables.name LIKE 'rockpool_%' ORDER BY 1, 2`,
    ),
    ...query(`SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND name LIKE 'rockpool_%' ORDER BY name`),
  ];

  it('migrates a file from the first storage format to the current one and keeps its content', () => {
    open(TEST_SCHEMA);
    const wanted = layout();
    const file = new SqliteFile(path);
    file.exec(
      `DROP TABLE rockpool_history; DROP TABLE rockpool_nulled_reference; DROP TABLE rockpool_origin; DROP TABLE rockpool_document; DROP TABLE rockpool_document_replaced; DROP TABLE rockpool_document_edit; DROP TABLE rockpool_document_author; DROP INDEX rockpool_tombstone; DROP INDEX rockpool_orphan; ALTER TABLE rockpool_row_version DROP COLUMN waits_for; ALTER TABLE rockpool_log DROP COLUMN received_ms; ALTER TABLE rockpool_log DROP COLUMN link; ALTER TABLE rockpool_conflict DROP COLUMN path; ALTER TABLE rockpool_outcome DROP COLUMN decided_ms; UPDATE rockpool_meta SET value = '1' WHERE name = 'storage_format'; INSERT INTO accounts (id, name) VALUES ('x', 'x')`,
    );
    file.close();
    open(TEST_SCHEMA);
    expect(layout()).toEqual(wanted);
    expect(query('SELECT id FROM accounts')).toEqual([['x']]);
  });

  it('rejects a newer storage format', () => {
    open(TEST_SCHEMA);
    const file = new SqliteFile(path);
    file.exec(`UPDATE rockpool_meta SET value = '${STORAGE_FORMAT + 1}' WHERE name = 'storage_format'`);
    file.close();
    expect(() => open(TEST_SCHEMA)).toThrow(expect.objectContaining({ code: 'database-unavailable' }));
  });
});

describe('opening a database file with a different schema', () => {
  it('rejects a schema that makes a column a document if rows have values in it that are not documents, and changes nothing', () => {
    open(TEST_SCHEMA);
    const insert = (id: string, note: string): unknown =>
      query(`INSERT INTO entries (id, amount, note) VALUES ('${id}', 1, '${note}') RETURNING id`);
    insert('a', '{"b":1, "a":2}');
    const documents = [{ ...DEFAULT_DOCUMENT_RULE, column: 'note' }];
    const schema = buildSchema(
      TEST_TABLES.map((one) => (one === ENTRIES ? { ...one, merge: { ...one.merge, documents } } : one)),
    );
    insert('b', 'low tide');
    insert('c', '[12345678901234567890]');
    const rejected = {
      code: 'schema-incompatible',
      fields: { count: 1, problems: 'entries: the column note has values that are not documents of its rule' },
    };
    expect(() => open(schema)).toThrow(expect.objectContaining(rejected));
    query(`DELETE FROM entries WHERE id = 'b' RETURNING id`);
    expect(() => open(schema)).toThrow(expect.objectContaining(rejected));
    open(TEST_SCHEMA);
    query(`DELETE FROM entries WHERE id <> 'a' RETURNING id`);
    open(schema);
  });

  it('adds tables, columns and plain indexes to a stored database', () => {
    open(TEST_SCHEMA);
    const file = new SqliteFile(path);
    file.exec(`INSERT INTO accounts (id, name) VALUES ('x', 'x')`);
    file.close();
    open(
      buildSchema([
        {
          ...ACCOUNTS,
          columns: [
            ...ACCOUNTS.columns,
            column('closed', 'integer', { notNull: true, defaultSql: '0' }),
            column('iban', 'text'),
          ],
        },
        {
          ...ENTRIES,
          indexes: [{ name: 'entries_by_amount', unique: false, expressions: ['amount'], whereSql: null }],
        },
        ...TEST_TABLES.filter((one) => one !== ACCOUNTS && one !== ENTRIES),
        table('tags', [column('id', 'text', { notNull: true })]),
      ]),
    );
    expect(query('SELECT id, closed, iban FROM accounts')).toEqual([['x', 0n, null]]);
    expect(
      query(
        `SELECT name FROM sqlite_schema WHERE name IN ('tags', 'entries_by_note', 'entries_by_amount') ORDER BY name`,
      ),
    ).toEqual([['entries_by_amount'], ['tags']]);
  });

  it.each<[string, Schema]>([
    ['a table', buildSchema(TEST_TABLES.filter((one) => one !== LABELS))],
    ['a column', withAccounts({ columns: ACCOUNTS.columns.slice(0, 2) })],
  ])('keeps %s that the schema lacks, and the schema of the file', (_, schema) => {
    open(TEST_SCHEMA);
    const before = query('SELECT sql FROM sqlite_schema ORDER BY name');
    const file = openDatabaseFile(path, schema);
    file.sql.close();
    expect(file.schema.hash).toBe(TEST_SCHEMA.hash);
    expect(query('SELECT sql FROM sqlite_schema ORDER BY name')).toEqual(before);
  });

  it.each<[string, Schema]>([
    [
      'drops a table and adds a column',
      buildSchema([
        { ...ACCOUNTS, columns: [...ACCOUNTS.columns, column('iban', 'text')] },
        ...TEST_TABLES.filter((one) => one !== LABELS && one !== ACCOUNTS),
      ]),
    ],
    [
      'drops a column that old rows need',
      withAccounts({
        columns: ACCOUNTS.columns.filter(({ name }) => name !== 'name'),
        uniques: [],
        searchIndexes: [],
      }),
    ],
    [
      'changes a type',
      withAccounts({
        columns: ACCOUNTS.columns.map((one) => (one.name === 'rank' ? { ...one, type: 'text' as const } : one)),
      }),
    ],
    ['changes the key', withAccounts({ primaryKey: ['id', 'name'] })],
    [
      'adds a required column',
      withAccounts({ columns: [...ACCOUNTS.columns, column('iban', 'text', { notNull: true })] }),
    ],
    ['adds a UNIQUE', withAccounts({ uniques: [['name'], ['rank']] })],
    [
      'adds a unique index',
      withAccounts({ indexes: [{ name: 'one_rank', unique: true, expressions: ['rank'], whereSql: null }] }),
    ],
    ['adds a CHECK', withAccounts({ checks: [{ name: null, sql: 'rank > 0' }] })],
    [
      'has a default that SQLite cannot give to stored rows',
      withAccounts({
        columns: [...ACCOUNTS.columns, column('seed', 'integer', { notNull: true, defaultSql: 'random()' })],
      }),
    ],
  ])('is refused without a change if the schema %s', (_, schema) => {
    open(TEST_SCHEMA);
    const file = new SqliteFile(path);
    file.exec(`INSERT INTO accounts (id, name) VALUES ('x', 'x')`);
    const before = file.all('SELECT sql FROM sqlite_schema ORDER BY name');
    file.close();
    expect(() => open(schema)).toThrow(expect.objectContaining({ code: 'schema-incompatible' }));
    expect(query('SELECT sql FROM sqlite_schema ORDER BY name')).toEqual(before);
    open(TEST_SCHEMA);
  });
});
