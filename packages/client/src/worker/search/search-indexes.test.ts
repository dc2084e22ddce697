import {
  buildSchema,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  type RockpoolError,
  type Schema,
  type SearchIndexSchema,
} from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import { mayAffect } from '../../rpc/query-dependencies.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import { searchText } from '../../search-text.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { testDelivery, testGroup, testSync } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory, openStored, testRuntime, type StoredDatabase } from '../../../testing/worker/test-database.ts';

const words: SearchIndexSchema = {
  name: 'note_search',
  columns: ['title', 'body'],
  tokenize: 'unicode61 remove_diacritics 2',
};
const columns = { id: 'text not null', title: 'text', body: 'text', hits: 'integer' };
const plain = buildSchema([testTable('note', columns)]);
const searched = buildSchema([testTable('note', columns, { searchIndexes: [words] })]);

let requests = 0;

function write(database: OpenDatabase, ...statements: readonly string[]): ReturnType<OpenDatabase['write']> {
  return database.write({ id: `r${++requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

function found(database: OpenDatabase, typed: string): unknown[] {
  return decodeRows(
    database.query(
      'SELECT id FROM note WHERE rowid IN (SELECT rowid FROM note_search WHERE note_search MATCH ?) ORDER BY id',
      [searchText(typed)],
    ),
  ).map((row) => row['id']);
}

function errorOf(body: () => unknown): RockpoolError {
  try {
    body();
  } catch (thrown) {
    return thrown as RockpoolError;
  }
  throw new Error('nothing was thrown');
}

const TWO_NOTES =
  "INSERT INTO note (id, title, body) VALUES ('a', 'The Drowsy Heron', 'café in the old mill'), ('b', 'Papercrane Books', NULL)";

describe('a search index', () => {
  it('finds prefixes of words in any of its columns, ignoring case and accents', () => {
    const database = openInMemory({ schema: searched });
    write(database, TWO_NOTES);
    expect([
      found(database, 'HER'),
      found(database, 'cafe heron'),
      found(database, 'papér'),
      found(database, 'eron'),
      found(database, ''),
      found(database, '"'),
    ]).toEqual([['a'], ['a'], ['b'], [], [], []]);
  });

  it('supports the ranking and highlighting of FTS5', () => {
    const database = openInMemory({ schema: searched });
    write(database, TWO_NOTES);
    const sql =
      "SELECT id, highlight(note_search, 0, '[', ']') AS title FROM note_search JOIN note ON note.rowid = note_search.rowid WHERE note_search MATCH ? ORDER BY rank";
    expect(decodeRows(database.query(sql, ['heron']))).toEqual([{ id: 'a', title: 'The Drowsy [Heron]' }]);
  });

  it('finds the text of documents while they are edited', () => {
    const documents = [{ ...DEFAULT_DOCUMENT_RULE, column: 'body', text: ['text'] }];
    const database = openInMemory({
      schema: buildSchema([
        testTable('note', columns, { searchIndexes: [words], merge: { ...DEFAULT_MERGE_RULES, documents } }),
      ]),
    });
    write(
      database,
      `INSERT INTO note (id, body) VALUES ('a', '{"text":"low tide","tags":["harbour"]}'), ('b', '{"text":"high tide"}')`,
    );
    expect([found(database, 'tide'), found(database, 'harbour')]).toEqual([['a', 'b'], ['a']]);
    write(database, `UPDATE note SET body = json_set(body, '$.text', 'ebb', '$.tags', json('[]')) WHERE id = 'a'`);
    expect([found(database, 'tide'), found(database, 'ebb'), found(database, 'harbour')]).toEqual([['b'], ['a'], []]);
    database.close();
  });

  it('is not part of the schema hash, and is never sent', () => {
    expect(searched.hash).toBe(plain.hash);
    const database = openInMemory({ schema: searched });
    expect(write(database, TWO_NOTES)).toMatchObject({ touchedTables: ['note'], sequence: 1 });
    expect(decodeRows(database.query('SELECT count(*) AS n FROM rockpool_changelog', []))).toEqual([{ n: 1 }]);
  });

  it('includes the rows of deliveries', () => {
    const database = openInMemory({ schema: searched });
    const table = searched.tables[0] as (typeof searched.tables)[0];
    const sync = testSync(database);
    sync.applyDelivery(
      testDelivery({
        to: 1,
        groups: [
          testGroup('insert', table, [
            { id: 'a', title: 'first' },
            { id: 'b', title: 'second' },
          ]),
        ],
      }),
    );
    sync.applyDelivery(
      testDelivery({
        from: 1,
        to: 2,
        groups: [testGroup('update', table, [{ id: 'a', body: 'changed' }]), testGroup('delete', table, [{ id: 'b' }])],
      }),
    );
    expect([found(database, 'first'), found(database, 'changed'), found(database, 'second')]).toEqual([
      ['a'],
      ['a'],
      [],
    ]);
  });

  it('includes the rows that are written after a full resync', () => {
    const database = openInMemory({ schema: searched });
    const table = searched.tables[0] as (typeof searched.tables)[0];
    testSync(database).applyDelivery(
      testDelivery({ whole: true, to: 1, groups: [testGroup('insert', table, [{ id: 'a', title: 'first' }])] }),
    );
    write(database, "INSERT INTO note (id, title) VALUES ('b', 'second')");
    expect([found(database, 'first'), found(database, 'second')]).toEqual([['a'], ['b']]);
  });

  it('is up to date for statements of the same transaction', () => {
    const database = openInMemory({ schema: searched });
    write(
      database,
      TWO_NOTES,
      "DELETE FROM note WHERE rowid IN (SELECT rowid FROM note_search WHERE note_search MATCH 'heron')",
    );
    expect(decodeRows(database.query('SELECT id FROM note', []))).toEqual([{ id: 'b' }]);
  });

  it('re-runs a live query that reads it exactly when its columns or the set of rows may have changed', () => {
    const database = openInMemory({ schema: searched });
    write(database, TWO_NOTES);
    const dependencies = database.dependencies({
      sql: "SELECT highlight(note_search, 0, '', '') FROM note_search WHERE note_search MATCH 'heron'",
      params: [],
    });
    expect(dependencies.map(({ table }) => table)).toEqual(['note']);
    const wakes = (sql: string): boolean => {
      const { touchedTables: tables, changes } = write(database, sql);
      return mayAffect({ tables, changes }, dependencies);
    };
    expect([
      wakes("UPDATE note SET hits = 1 WHERE id = 'a'"),
      wakes("UPDATE note SET body = 'x' WHERE id = 'b'"),
      wakes("DELETE FROM note WHERE id = 'b'"),
    ]).toEqual([false, true, true]);
  });

  it('rejects writes, drops and alterations by the app, and changes of the rowids of its rows', () => {
    const database = openInMemory({ schema: searched });
    write(database, TWO_NOTES);
    for (const sql of [
      "INSERT INTO note_search (rowid, title) VALUES (9, 'x')",
      "INSERT INTO note_search (note_search) VALUES ('delete-all')",
      'DELETE FROM note_search',
      'DROP TABLE note_search',
      'ALTER TABLE note_search RENAME TO other',
      'CREATE TEMP TABLE note_search (a)',
      'UPDATE note SET rowid = 77',
      'INSERT INTO rockpool_search_0 (row, was_there) VALUES (1, 0)',
    ]) {
      expect(errorOf(() => write(database, sql)).code, sql).toBe('sql-forbidden');
    }
    expect(errorOf(() => write(database, 'DELETE FROM note_search_data')).code).toBe('query-invalid');
    expect(found(database, 'heron')).toEqual(['a']);
  });

  it('reports a mistake in an FTS5 expression as an invalid query, without the words of the search', () => {
    const database = openInMemory({ schema: searched });
    const error = errorOf(() => database.query('SELECT * FROM note_search WHERE note_search MATCH ?', ['"secret']));
    expect(error.code).toBe('query-invalid');
    expect(JSON.stringify(error.toData())).not.toContain('secret');
  });
});

describe('the search index of an existing database', () => {
  async function reopened(
    medium = memoryMedium(),
    options: Parameters<typeof openStored>[1] = {},
  ): Promise<StoredDatabase> {
    return await openStored(medium, options);
  }

  it('is created for a new declaration, rebuilt for a changed declaration, and dropped for a removed one', async () => {
    const medium = memoryMedium();
    const first = await reopened(medium, { schema: plain });
    write(first.database, TWO_NOTES);
    await first.close();
    const trigramsOf = (...of: string[]): Schema =>
      buildSchema([
        testTable('note', columns, { searchIndexes: [{ name: 'note_search', columns: of, tokenize: 'trigram' }] }),
      ]);
    const finds: unknown[] = [];
    for (const schema of [searched, searched, trigramsOf('title', 'body'), trigramsOf('title')]) {
      const { database, close } = await reopened(medium, { schema });
      finds.push([found(database, 'heron'), found(database, 'eron'), found(database, 'café')]);
      write(database, "UPDATE note SET hits = hits + 1, title = title || '' WHERE id = 'a'");
      await close();
    }
    expect(finds).toEqual([
      [['a'], [], ['a']],
      [['a'], [], ['a']],
      [['a'], ['a'], ['a']],
      [['a'], ['a'], []],
    ]);
    const last = await reopened(medium, { schema: plain });
    expect(
      decodeRows(last.database.query("SELECT count(*) AS n FROM sqlite_schema WHERE name LIKE 'note_search%'", [])),
    ).toEqual([{ n: 0 }]);
    await last.close();
  });

  it('makes a reader wait for the writer that creates it', async () => {
    const medium = memoryMedium();
    const writer = await reopened(medium, { schema: plain });
    write(writer.database, TWO_NOTES);
    await expect(reopened(medium, { schema: searched, role: 'reader' })).rejects.toMatchObject({
      code: 'storage-missing',
      fields: { table: 'note_search' },
    });
    await writer.close();
    const newer = await reopened(medium, { schema: searched });
    const reader = await reopened(medium, { schema: searched, role: 'reader' });
    expect(found(reader.database, 'heron')).toEqual(['a']);
    write(newer.database, "UPDATE note SET title = 'Kingfisher' WHERE id = 'a'");
    expect([found(reader.database, 'heron'), found(reader.database, 'king')]).toEqual([[], ['a']]);
    await reader.close();
    await newer.close();
  });

  it('is rebuilt by a migration that rebuilds its table, and compares bytes whatever the collation', async () => {
    const medium = memoryMedium();
    const caseMatters = { ...words, tokenize: 'trigram case_sensitive 1' };
    // Only local tables may have a collation, because the server would not have it.
    const schema = buildSchema([testTable('note', columns, { searchIndexes: [caseMatters], synced: false })]);
    const first = {
      tag: '0000',
      sql: 'CREATE TABLE note (id text PRIMARY KEY NOT NULL, title text, body text, hits integer)',
    };
    const again = {
      tag: '0001',
      sql: [
        'CREATE TABLE __new_note (id text PRIMARY KEY NOT NULL, title text COLLATE NOCASE, body text, hits integer)',
        'INSERT INTO __new_note SELECT id, title, body, hits FROM note ORDER BY id DESC',
        'DROP TABLE note',
        'ALTER TABLE __new_note RENAME TO note',
      ].join('--> statement-breakpoint\n'),
    };
    const before = await reopened(medium, { schema, migrations: [first] });
    write(before.database, TWO_NOTES);
    await before.close();
    const { database, close } = await reopened(medium, { schema, migrations: [first, again] });
    expect([found(database, 'Heron'), found(database, 'crane')]).toEqual([['a'], ['b']]);
    write(database, 'UPDATE note SET title = lower(title)');
    expect([found(database, 'Heron'), found(database, 'heron')]).toEqual([[], ['a']]);
    await close();
  });

  it('rejects a name that a table of the app already has', async () => {
    const medium = memoryMedium();
    const { database, close } = await reopened(medium, { schema: plain });
    database.connection.exec('CREATE TABLE note_search (a)'); // as a migration would create it
    await close();
    await expect(reopened(medium, { schema: searched })).rejects.toMatchObject({
      code: 'schema-incompatible',
      fields: { table: 'note' },
    });
  });

  it('requires tables with stable rowids', async () => {
    const table = {
      tag: '0000',
      sql: 'CREATE TABLE note (id text PRIMARY KEY NOT NULL, title text, body text, hits integer) WITHOUT ROWID',
    };
    const local = buildSchema([testTable('note', columns, { searchIndexes: [words], synced: false })]);
    await expect(reopened(memoryMedium(), { schema: local, migrations: [table] })).rejects.toMatchObject({
      code: 'schema-incompatible',
      fields: { table: 'note' },
    });
    const { database, close } = await reopened(memoryMedium(), { schema: searched });
    expect(errorOf(() => write(database, 'VACUUM')).code).toBe('query-invalid');
    await close();
  });

  it('is rebuilt if it is damaged', async () => {
    const { database, close } = await reopened(memoryMedium(), { schema: searched });
    write(database, TWO_NOTES);
    expect(database.searchIndexes.repair()).toEqual([]);
    database.connection.run("INSERT INTO note_search (note_search) VALUES ('delete-all')");
    expect([found(database, 'heron'), database.searchIndexes.repair(), found(database, 'heron')]).toEqual([
      [],
      [{ table: 'note', index: 'note_search' }],
      ['a'],
    ]);
    await close();
  });
});

it('search indexes are supported by the build, with the tokenizers of FTS5', () => {
  for (const tokenize of ['unicode61', 'ascii', 'porter unicode61', 'trigram', "unicode61 tokenchars '-_'"]) {
    const schema = buildSchema([testTable('note', columns, { searchIndexes: [{ ...words, tokenize }] })]);
    expect(() => openInMemory({ schema, runtime: testRuntime }).close()).not.toThrow();
  }
});
