import { buildSchema, decodeSchema, RockpoolError, type TableSchema } from '@rockpool/shared';
import { memoryMedium, openStorage } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import { Connection } from '../sqlite/connection.ts';
import { testColumn, testTable } from '../../../testing/worker/table-schema.ts';
import { writeStates } from '../changelog/write-states.ts';
import { RequestLog } from '../write/request-log.ts';
import { STORAGE_FORMAT } from '../file/internal-tables.ts';
import { ReadInterrupted } from '../leader/opened-database.ts';
import type { OpenDatabase } from './open-database.ts';
import {
  account,
  draft,
  entry,
  openInMemory,
  openStored,
  priced,
  testRuntime,
  testSchema,
} from '../../../testing/worker/test-database.ts';

function failure(action: () => unknown): RockpoolError {
  try {
    action();
  } catch (error) {
    if (error instanceof RockpoolError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

async function failureOf(action: Promise<unknown>): Promise<RockpoolError> {
  try {
    await action;
  } catch (error) {
    if (error instanceof RockpoolError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const tablesOf = (database: OpenDatabase, sql: string): string[] =>
  database.dependencies({ sql, params: [] }).map(({ table }) => table);
/** Changes with every change of a table or index. */
const schemaVersion = ({ connection }: OpenDatabase): unknown => connection.value('PRAGMA schema_version');
const insert = { id: 'r1', statements: [{ sql: "INSERT INTO account (id, name) VALUES ('a', 'Cash')", params: [] }] };

describe('opening a database', () => {
  it('creates a new database with its own site id', () => {
    const one = openInMemory();
    const two = openInMemory();
    expect(one.schema.hash).toBe(testSchema.hash);
    expect(one.siteId).toHaveLength(16);
    expect(two.siteId).not.toEqual(one.siteId);
    expect(one.meta.cursor).toBe(0);
    expect(one.meta.logEpoch).toBe(null);
    expect(decodeRows(one.query('SELECT * FROM rockpool_conflict', []))).toEqual([]);
    expect(one.connection.value('PRAGMA page_size')).toBe(8192);
    expect(one.connection.value('PRAGMA foreign_keys')).toBe(1);
    expect(one.connection.value('PRAGMA recursive_triggers')).toBe(0);
    one.close();
    two.close();
  });

  it('keeps everything that was stored', async () => {
    const medium = memoryMedium();
    const first = await openStored(medium);
    const { siteId } = first.database;
    const version = schemaVersion(first.database);
    first.database.write(insert);
    await first.close();
    const again = await openStored(medium);
    expect(schemaVersion(again.database)).toBe(version);
    expect(again.database.siteId).toEqual(siteId);
    expect(again.database.outbox.pendingCount()).toBe(1);
    expect(again.database.write(insert).repeated).toBe(true);
    expect(decodeRows(again.database.query('SELECT id, name FROM account', []))).toEqual([{ id: 'a', name: 'Cash' }]);
    await again.close();
  });

  it('drops triggers on internal tables, which earlier versions let apps create and which can remove writes', async () => {
    const medium = memoryMedium();
    const before = await openStored(medium);
    before.database.connection.exec(
      `CREATE TRIGGER removing AFTER INSERT ON rockpool_changelog BEGIN DELETE FROM rockpool_changelog; END;
       CREATE TRIGGER own AFTER INSERT ON account BEGIN UPDATE draft SET text = new.id; END`,
    );
    await before.close();
    const { database, close } = await openStored(medium);
    expect(database.connection.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'")).toEqual([['own']]);
    database.write(insert);
    expect(database.outbox.pendingCount()).toBe(1);
    await close();
  });

  it('rejects a file that is not a Rockpool database, and leaves it unchanged', async () => {
    const medium = memoryMedium();
    const storage = await openStorage({ name: 'test', medium, role: 'writer' });
    storage.register(testRuntime.module);
    const other = new Connection(testRuntime, { path: storage.path, vfsName: storage.vfsName });
    other.exec('CREATE TABLE mine (a); INSERT INTO mine VALUES (1)');
    other.close();
    await storage.close();
    const error = await failureOf(openStored(medium));
    expect([error.code, error.fields]).toEqual([
      'schema-incompatible',
      { problem: 'the file is not a Rockpool database' },
    ]);
  });

  it('migrates an older storage format and keeps its content', async () => {
    const medium = memoryMedium();
    const first = await openStored(medium);
    first.database.write(insert);
    first.database.connection.exec(`
      CREATE TABLE old_changelog AS SELECT sequence, stamp_us, base, hash, body, before FROM rockpool_changelog;
      CREATE TABLE old_rejected AS SELECT sequence, code, fields_json, parked_ms FROM rockpool_parked;
      DROP TABLE rockpool_changelog;
      DROP TABLE rockpool_parked;
      ALTER TABLE old_changelog RENAME TO rockpool_changelog;
      ALTER TABLE old_rejected RENAME TO rockpool_parked;
      DROP TABLE rockpool_document;
      DROP TABLE rockpool_document_base;
      DROP TABLE rockpool_changelog_pack;
      DROP TABLE rockpool_request;
      CREATE TABLE rockpool_request (id TEXT PRIMARY KEY NOT NULL, done_ms INTEGER NOT NULL, outcome_json TEXT NOT NULL) WITHOUT ROWID;
      INSERT INTO rockpool_request VALUES ('0f8fad5b-d9cb-469f-a165-70867728950e', 5, '{"touchedTables":["account"],"sequence":1}'),
        ('not-a-uuid', 6, '{"results":[{"changes":2}],"touchedTables":[],"sequence":null}'),
        ('0F8FAD5B-D9CB-469F-A165-70867728950E', 7, '{"touchedTables":[],"sequence":null}');
      ALTER TABLE rockpool_conflict DROP COLUMN path`);
    first.database.meta.set('storage_format', 1);
    await first.close();
    const again = await openStored(medium);
    expect(again.database.meta.get('storage_format')).toBe(STORAGE_FORMAT);
    expect(again.database.outbox.nextPush(0, 1)?.changesets).toHaveLength(1);
    expect(again.database.rejected.count()).toBe(0);
    expect(again.database.connection.rows('SELECT shift_us FROM rockpool_changelog')).toEqual([[0]]);
    const requests = new RequestLog(again.database);
    const known = { changes: [], repeated: true };
    expect(requests.find('0f8fad5b-d9cb-469f-a165-70867728950e')).toEqual({
      ...known,
      results: [],
      touchedTables: ['account'],
      sequence: 1,
    });
    expect(requests.find('not-a-uuid')).toEqual({
      ...known,
      results: [{ changes: 2 }],
      touchedTables: [],
      sequence: null,
    });
    expect(requests.find('0F8FAD5B-D9CB-469F-A165-70867728950E')).toMatchObject({ touchedTables: [], sequence: null });
    expect(writeStates(again.database.connection, ['0f8fad5b-d9cb-469f-a165-70867728950e'])).toEqual([
      { state: 'pending' },
    ]);
    await again.close();
  });

  it('accepts a file from before the hash included rich texts', async () => {
    const medium = memoryMedium();
    const rule = { column: 'content', text: [], richText: ['note'], elementKey: 'id', maxLength: 1000, maxDepth: 8 };
    const table = testTable('page', { id: 'text not null', content: 'text' });
    const merge = { ...table.merge, documents: [rule] };
    const schema = buildSchema([{ ...table, merge }]);
    const { richText: _richText, ...plainRule } = rule;
    const before = buildSchema([{ ...table, merge: { ...merge, documents: [plainRule] } }]).hash;
    expect(before).not.toBe(schema.hash);
    const first = await openStored(medium, { schema });
    first.database.write({ id: 'a', statements: [{ sql: "INSERT INTO page (id) VALUES ('p')", params: [] }] });
    const { meta } = first.database;
    meta.set('schema_json', (meta.schemaJson as string).replace(schema.hash, before));
    meta.set('schema_hash', before);
    await first.close();
    const again = await openStored(medium, { schema });
    expect(again.database.schema.hash).toBe(schema.hash);
    expect(again.database.meta.get('schema_hash')).toBe(schema.hash);
    expect(again.database.readOnly).toBe(null);
    expect(again.database.outbox.pendingCount()).toBe(1);
    await again.close();
  });

  it('rejects the storage format of a newer version, and changes nothing', async () => {
    const medium = memoryMedium();
    const first = await openStored(medium);
    first.database.meta.set('storage_format', STORAGE_FORMAT + 1);
    const before = first.database.connection.rows('SELECT * FROM rockpool_meta');
    await first.close();
    for (const schema of [testSchema, buildSchema([account])]) {
      const error = await failureOf(openStored(medium, { schema }));
      expect([error.code, error.recovery, error.fields]).toEqual([
        'database-newer',
        'upgrade',
        { storageFormat: STORAGE_FORMAT + 1, supported: STORAGE_FORMAT },
      ]);
    }
    const storage = await openStorage({ name: 'test', medium, role: 'writer' });
    storage.register(testRuntime.module);
    const connection = new Connection(testRuntime, { path: storage.path, vfsName: storage.vfsName });
    expect(connection.rows('SELECT * FROM rockpool_meta')).toEqual(before);
    connection.close();
    await storage.close();
  });

  it('rejects a schema that only a newer version can read', async () => {
    const medium = memoryMedium();
    const first = await openStored(medium);
    first.database.meta.set('schema_json', first.database.meta.schemaJson.replace('"delete-wins"', '"newest-wins"'));
    await first.close();
    expect((await failureOf(openStored(medium))).code).toBe('database-newer');
  });
});

describe('a schema that grew', () => {
  const grown = buildSchema([
    {
      ...account,
      columns: [
        testColumn('id', 'text not null'),
        testColumn('colour', "text not null default 'blue'"),
        ...account.columns.slice(1),
      ],
    },
    { ...entry, indexes: [{ name: 'entry_note', unique: true, expressions: ['"note"'], whereSql: null }] },
    { ...priced, columns: [...priced.columns, testColumn('label', 'text as id||net virtual')] },
    draft,
    testTable('tag', { id: 'text not null', name: 'text' }),
  ]);

  it('is installed additively, and captures writes to its additions', async () => {
    const medium = memoryMedium();
    const first = await openStored(medium);
    first.database.write(insert);
    await first.close();
    const again = await openStored(medium, { schema: grown });
    const { database } = again;
    expect(database.schema.hash).toBe(grown.hash);
    expect(decodeRows(database.query('SELECT colour FROM account', []))).toEqual([{ colour: 'blue' }]);
    const sql = [
      "UPDATE account SET colour = 'red', name = 'x'",
      "INSERT INTO tag VALUES ('t', 'new')",
      "INSERT INTO account (id) VALUES ('b')",
    ];
    database.write({ id: 'r2', statements: sql.map((text) => ({ sql: text, params: [] })) });
    expect(database.changelog.read(2)?.groups.map(({ kind, keys, values }) => [kind, keys, values])).toEqual([
      ['update', [['a']], [['red'], ['x']]],
      ['insert', [['b']], [['blue'], [null], [null], [null], [null]]],
      ['insert', [['t']], [['new']]],
    ]);
    expect(
      database.connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'entry' AND sql IS NOT NULL",
      ),
    ).toEqual([['entry_note']]);
    const version = schemaVersion(database);
    await again.close();
    const third = await openStored(medium, { schema: grown });
    expect(schemaVersion(third.database)).toBe(version);
    await third.close();
  });

  const incompatible = (name: string, tables: readonly TableSchema[], fields: object): void =>
    it(`is rejected, with the file unchanged: ${name}`, async () => {
      const medium = memoryMedium();
      const first = await openStored(medium);
      first.database.write({
        id: 'r1',
        statements: [{ sql: "INSERT INTO account (id, amount) VALUES ('a', 1), ('b', 1)", params: [] }],
      });
      const version = schemaVersion(first.database);
      await first.close();
      const error = await failureOf(openStored(medium, { schema: buildSchema(tables) }));
      expect([error.code, error.fields]).toEqual(['schema-incompatible', fields]);
      const again = await openStored(medium);
      expect(schemaVersion(again.database)).toBe(version);
      expect(decodeSchema(again.database.meta.schemaJson)).toEqual(testSchema);
      await again.close();
    });
  const without = (table: TableSchema, column: string): TableSchema => ({
    ...table,
    columns: table.columns.filter(({ name }) => name !== column),
  });
  const plus = (table: TableSchema, name: string, declaration: string): TableSchema => ({
    ...table,
    columns: [...table.columns, testColumn(name, declaration)],
  });

  incompatible(
    'a part of the key is gone',
    [account, entry, priced, { ...draft, columns: [testColumn('text', 'text')], primaryKey: ['text'] }],
    { table: 'draft', problem: 'the primary key changed' },
  );
  incompatible(
    'a column is gone and another one has another type',
    [
      {
        ...without(account, 'extra'),
        columns: without(account, 'extra').columns.map((column) =>
          column.name === 'rate' ? testColumn('rate', 'text') : column,
        ),
      },
      entry,
      priced,
      draft,
    ],
    {
      table: 'account',
      column: 'rate',
      problem: 'the type, default or merge rule of the column changed',
    },
  );
  incompatible(
    'a column has another type',
    [
      {
        ...account,
        columns: account.columns.map((column) => (column.name === 'rate' ? testColumn('rate', 'text') : column)),
      },
      entry,
      priced,
      draft,
    ],
    {
      table: 'account',
      column: 'rate',
      problem: 'the type, default or merge rule of the column changed',
    },
  );
  incompatible('a new column has no default', [plus(account, 'kind', 'text not null'), entry, priced, draft], {
    table: 'account',
    column: 'kind',
    problem: 'a new column needs a default or must allow NULL',
  });
  incompatible(
    'a new column has a default that is not a constant',
    [plus(account, 'kind', 'text not null default hex(randomblob(4))'), entry, priced, draft],
    {
      table: 'account',
      column: 'kind',
      problem: 'SQLite rejects the change: query-invalid',
    },
  );
  incompatible(
    'a new stored generated column',
    [account, entry, plus(priced, 'twice', 'integer as net*2 stored'), draft],
    {
      table: 'priced',
      column: 'twice',
      problem: 'a stored generated column cannot be added; a virtual one can',
    },
  );
  incompatible('a new UNIQUE constraint', [{ ...account, uniques: [['name'], ['rate']] }, entry, priced, draft], {
    table: 'account',
    problem: 'the UNIQUE constraints changed',
  });
  incompatible(
    'a new unique index that the rows break',
    [
      { ...account, indexes: [{ name: 'account_amount', unique: true, expressions: ['"amount"'], whereSql: null }] },
      entry,
      priced,
      draft,
    ],
    {
      table: 'account',
      problem: 'SQLite rejects the change: constraint-unique',
    },
  );
  incompatible('a table is no longer synced', [account, entry, { ...priced, synced: false }, draft], {
    table: 'priced',
    problem: 'the synced state of the table changed',
  });
  incompatible('a foreign key is gone', [account, { ...entry, foreignKeys: [] }, priced, draft], {
    table: 'entry',
    problem: 'the foreign keys changed',
  });
});

describe('a query', () => {
  const database = openInMemory();
  database.write(insert);

  it('reads with parameters', () => {
    expect(decodeRows(database.query('SELECT name FROM account WHERE id = ?', ['a']))).toEqual([{ name: 'Cash' }]);
  });

  it('cannot write', () => {
    for (const sql of [
      "INSERT INTO account (id) VALUES ('b')",
      'UPDATE account SET name = NULL RETURNING id',
      'CREATE TABLE t (a)',
      'VACUUM',
    ]) {
      expect(failure(() => database.query(sql, [])).code).toBe('sql-read-only');
    }
    for (const sql of ['BEGIN', 'SAVEPOINT s', 'PRAGMA query_only = OFF', "ATTACH ':memory:' AS x"])
      expect(failure(() => database.query(sql, [])).code).toBe('sql-forbidden');
    expect(database.connection.inTransaction).toBe(false);
  });

  it('reports the tables that it reads, including views and full-text search', () => {
    const statements = [
      'CREATE VIEW named AS SELECT account.name, count(entry.id) AS n FROM account LEFT JOIN entry ON account_id = account.id',
      'CREATE VIRTUAL TABLE temp.words USING fts5(note)',
    ];
    database.write({ id: 'views', statements: statements.map((sql) => ({ sql, params: [] })) });
    expect(tablesOf(database, 'SELECT * FROM named').toSorted()).toEqual(['account', 'entry', 'named']);
    expect(tablesOf(database, "SELECT * FROM words WHERE words MATCH 'x'")).toEqual(['words']);
    expect(tablesOf(database, 'SELECT count(*) FROM draft')).toEqual(['draft']);
    expect(tablesOf(database, 'SELECT 1')).toEqual([]);
  });

  it('is interrupted once the database is closed', () => {
    const closed = openInMemory();
    closed.close();
    closed.close();
    expect(() => closed.query('SELECT 1', [])).toThrow(ReadInterrupted);
    expect(() => closed.write(insert)).toThrow(ReadInterrupted);
  });
});

describe('a reader', () => {
  it('sees each commit of the writer at once, and writes nothing', async () => {
    const medium = memoryMedium();
    const writer = await openStored(medium);
    const reader = await openStored(medium, { role: 'reader' });
    expect(reader.database.siteId).toEqual(writer.database.siteId);
    expect(decodeRows(reader.database.query('SELECT id FROM account', []))).toEqual([]);
    writer.database.write(insert);
    expect(decodeRows(reader.database.query('SELECT id FROM account', []))).toEqual([{ id: 'a' }]);
    expect(tablesOf(reader.database, 'SELECT * FROM account')).toEqual(['account']);
    expect(failure(() => reader.database.write(insert)).code).toBe('sql-read-only');
    await reader.close();
    await writer.close();
  });

  it('waits for a writer that installs its schema', async () => {
    const medium = memoryMedium();
    const writer = await openStored(medium);
    const newer = buildSchema([...testSchema.tables, testTable('tag', { id: 'text not null' })]);
    const error = await failureOf(openStored(medium, { role: 'reader', schema: newer }));
    expect([error.code, error.fields]).toEqual(['storage-missing', { table: 'tag', column: 'id' }]);
    const older = await openStored(medium, { role: 'reader', schema: buildSchema([account, entry]) });
    expect(decodeRows(older.database.query('SELECT id FROM account', []))).toEqual([]);
    await older.close();
    await writer.close();
  });
});
