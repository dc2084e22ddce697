import {
  buildSchema,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  encodeSchema,
  decodeSchema,
  type DocumentStorage,
  type Schema,
} from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import { storedTypes } from '../../../testing/worker/stored-types.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openStored } from '../../../testing/worker/test-database.ts';
import type { Migration } from '../../rpc/migration.ts';
import { withType } from './document-storage.ts';

/** The schema in the form that reaches the worker. */
function schemaOf(storage?: DocumentStorage): Schema {
  const schema = buildSchema([
    testTable(
      'page',
      { id: 'text not null', title: 'text', content: `text default '{"a":0}'` },
      {
        indexes: [{ name: 'page_a', unique: false, expressions: [`content ->> '$.a'`], whereSql: null }],
        merge: {
          ...DEFAULT_MERGE_RULES,
          documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content', ...(storage === undefined ? {} : { storage }) }],
        },
      },
    ),
  ]);
  return decodeSchema(encodeSchema(schema));
}

const ROWS = 'SELECT * FROM page ORDER BY id';
const BY_INDEX = `SELECT id FROM page INDEXED BY page_a WHERE content ->> '$.a' = 1`;

const TRIGGER = `CREATE TRIGGER touch AFTER UPDATE OF content ON page BEGIN UPDATE page SET title = 'touched'; END`;

describe('the storage of a document column', () => {
  it('changes with the schema; this runs no trigger, creates no changeset and keeps SQL results the same', async () => {
    const file = memoryMedium();
    const asText = await openStored(file, { schema: schemaOf() });
    asText.database.write({
      id: '1',
      statements: [
        { sql: TRIGGER, params: [] },
        { sql: `INSERT INTO page (id, content) VALUES ('p', '{"a":1}'), ('q', '[1,2.50]'), ('r', NULL)`, params: [] },
        { sql: `INSERT INTO page (id) VALUES ('s')`, params: [] },
      ],
    });
    // Documents became canonical before COMMIT, and that write fired the trigger.
    asText.database.write({ id: '2', statements: [{ sql: 'UPDATE page SET title = NULL', params: [] }] });
    const rows = asText.database.connection.rows(ROWS);
    const sequence = asText.database.changelog.head();
    await asText.close();
    for (const storage of ['binary', 'text', 'binary', undefined, undefined, 'binary'] as const) {
      const { database, close } = await openStored(file, { schema: schemaOf(storage) });
      expect(database.connection.rows(ROWS)).toEqual(rows);
      expect(database.connection.rows(BY_INDEX)).toEqual([['p']]);
      expect(database.connection.rows('PRAGMA integrity_check')).toEqual([['ok']]);
      expect(database.changelog.head()).toEqual(sequence);
      database.write({
        id: `${String(storage)}`,
        statements: ['DROP TRIGGER touch', `UPDATE page SET content = content`, TRIGGER].map((sql) => ({
          sql,
          params: [],
        })),
      });
      expect(database.changelog.head()).toEqual(sequence);
      await close();
    }
    const asTextAgain = await openStored(file, { schema: schemaOf('text') });
    expect(storedTypes(asTextAgain.database.connection, 'page', 'content')).toEqual(['text', 'text', 'null', 'text']);
    await asTextAgain.close();
    const { database, close } = await openStored(file, { schema: schemaOf('binary') });
    expect(storedTypes(database.connection, 'page', 'content')).toEqual(['blob', 'blob', 'null', 'blob']);
    await close();
  });

  it('can change while other connections are open, and they still read the same text', async () => {
    const file = memoryMedium();
    const asText = await openStored(file, { schema: schemaOf() });
    asText.database.write({
      id: '1',
      statements: [{ sql: `INSERT INTO page (id, content) VALUES ('p', '{"a":1}')`, params: [] }],
    });
    // A follower outlives its leader, and keeps the schema that it has read.
    const follower = await openStored(file, { schema: schemaOf(), role: 'reader' });
    const read = 'SELECT content, typeof(content) FROM page';
    expect(follower.database.connection.rows(read)).toEqual([['{"a":1}', 'text']]);
    await asText.close();
    for (const storage of ['binary', 'text'] as const) {
      const leader = await openStored(file, { schema: schemaOf(storage) });
      expect(follower.database.connection.rows(read)).toEqual([['{"a":1}', 'text']]);
      await leader.close();
    }
    await follower.close();
  });

  it('does not change the schema hash, and survives encoding', () => {
    expect(schemaOf('binary').hash).toBe(schemaOf().hash);
    expect(decodeSchema(encodeSchema(schemaOf('binary')))).toEqual(schemaOf('binary'));
    const unknown = encodeSchema(schemaOf('binary')).replace('"binary"', '"packed"');
    expect(() => decodeSchema(unknown)).toThrow(expect.objectContaining({ code: 'schema-invalid' }));
  });

  it('is restored after a migration that rebuilds the table', async () => {
    const file = memoryMedium();
    const create: Migration = {
      tag: '0000_create',
      sql: `CREATE TABLE page (id text PRIMARY KEY NOT NULL, title text, content text DEFAULT '{"a":0}');--> statement-breakpoint
CREATE INDEX page_a ON page (content ->> '$.a')`,
    };
    const rebuild: Migration = {
      tag: '0001_rebuild',
      sql: `CREATE TABLE __new_page (id text PRIMARY KEY NOT NULL, content text DEFAULT '{"a":0}', title text);--> statement-breakpoint
INSERT INTO __new_page (id, title, content) SELECT id, title, content FROM page;--> statement-breakpoint
DROP TABLE page;--> statement-breakpoint
ALTER TABLE __new_page RENAME TO page;--> statement-breakpoint
CREATE INDEX page_a ON page (content ->> '$.a')`,
    };
    const first = await openStored(file, { schema: schemaOf('binary'), migrations: [create] });
    first.database.write({
      id: '1',
      statements: [{ sql: `INSERT INTO page VALUES ('p', 't', '{"a":1}')`, params: [] }],
    });
    await first.close();
    const second = await openStored(file, { schema: schemaOf('binary'), migrations: [create, rebuild] });
    expect(second.database.connection.rows(`SELECT id, title, content FROM page`)).toEqual([['p', 't', '{"a":1}']]);
    expect(second.database.connection.rows(BY_INDEX)).toEqual([['p']]);
    expect(storedTypes(second.database.connection, 'page', 'content')).toEqual(['blob']);
    await second.close();
  });
});

describe('a binary document column', () => {
  it('accepts the JSONB that a function creates, and rejects any other blob', async () => {
    const { database, close } = await openStored(memoryMedium(), { schema: schemaOf('binary') });
    // An index over the JSON would reject such blobs earlier.
    database.connection.exec('DROP INDEX page_a');
    const write = (sql: string, ...params: (string | Uint8Array)[]): unknown =>
      database.write({ id: sql + String(params), statements: [{ sql, params }] });
    write(`INSERT INTO page (id, content) VALUES ('p', jsonb('{"b":1,"a":"it''s"}'))`);
    write(`UPDATE page SET content = jsonb_set(content, '$.c', 'say "low"', '$.d', 'tide', '$.e', 1.5)`);
    expect(database.connection.rows('SELECT content FROM page')).toEqual([
      ['{"a":"it\'s","b":1,"c":"say \\"low\\"","d":"tide","e":1.5}'],
    ]);
    const { sequence } = database.changelog.head();
    write(`UPDATE page SET content = ?`, '{"a":"it\'s","b":1,"c":"say \\"low\\"","d":"tide","e":1.5}');
    expect(database.changelog.head().sequence).toBe(sequence);
    for (const blob of [
      new Uint8Array([0, 255]),
      new Uint8Array([0x7c, 1, 2]),
      // An array with a number whose text contains a comma.
      new Uint8Array([0x4b, 0x33, 49, 44, 50]),
      // Text without the escape that its quotation mark needs.
      new Uint8Array([0x37, 97, 34, 98]),
    ])
      expect(() => write('UPDATE page SET content = ?', blob)).toThrow(
        expect.objectContaining({
          code: 'document-invalid',
          fields: { table: 'page', column: 'content', problem: 'type' },
        }),
      );
    expect(() => write(`UPDATE page SET content = '{"a":'`)).toThrow(
      expect.objectContaining({ code: 'document-invalid' }),
    );
    await close();
  });
});

describe('withType', () => {
  it.each([
    ['CREATE TABLE t (id TEXT, content TEXT)', 'CREATE TABLE t (id TEXT, content X Y)'],
    ['CREATE TABLE t (content, id TEXT)', 'CREATE TABLE t (content X Y, id TEXT)'],
    ["CREATE TABLE t (content text default '{}', id TEXT)", "CREATE TABLE t (content X Y default '{}', id TEXT)"],
    [
      'CREATE TABLE "content" ("id" TEXT DEFAULT (\'content TEXT\'), "Content" TEXT JSONB NOT NULL DEFAULT (\'{}\'))',
      'CREATE TABLE "content" ("id" TEXT DEFAULT (\'content TEXT\'), "Content" X Y NOT NULL DEFAULT (\'{}\'))',
    ],
    [
      'CREATE TABLE t (id VARCHAR(1, 2) CHECK (content, id), -- content TEXT,\n `content` VARCHAR (20) /* , content */ COLLATE BINARY, FOREIGN KEY (content) REFERENCES t (id))',
      'CREATE TABLE t (id VARCHAR(1, 2) CHECK (content, id), -- content TEXT,\n `content` X Y /* , content */ COLLATE BINARY, FOREIGN KEY (content) REFERENCES t (id))',
    ],
  ])('replaces only the type of the column in %s', (sql, expected) => {
    expect(withType(sql, 'content', 'X Y')).toBe(expected);
  });
});
