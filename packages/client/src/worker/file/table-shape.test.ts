import { buildSchema, type TableSchema } from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import { Connection } from '../sqlite/connection.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openStored, testRuntime } from '../../../testing/worker/test-database.ts';
import { shapeDifferences, type ShapeDifference } from './table-shape.ts';

const PARENT = 'CREATE TABLE parent (id text PRIMARY KEY NOT NULL)';

const declared = testTable(
  'todo',
  { id: 'text not null', title: 'text', rank: 'integer', parent_id: 'text', double: 'integer as rank*2 stored' },
  {
    uniques: [['title']],
    checks: [{ name: 'small', sql: 'rank < 10' }],
    foreignKeys: [
      {
        columns: ['parent_id'],
        foreignTable: 'parent',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
    indexes: [
      { name: 'todo_rank', unique: true, expressions: ['"rank"', 'lower("title")'], whereSql: '"rank" IS NOT NULL' },
    ],
  },
);

interface Parts {
  readonly columns?: Readonly<Record<string, string>>;
  readonly constraints?: readonly string[];
  readonly options?: string;
  readonly after?: readonly string[];
}

const COLUMNS = {
  id: '`id` text PRIMARY KEY NOT NULL',
  title: '`title` text',
  rank: '`rank` integer',
  parent_id: '`parent_id` text REFERENCES `parent`(`id`) ON DELETE cascade',
  double: '`double` integer GENERATED ALWAYS AS ("rank"*2) STORED',
};
const CONSTRAINTS = ['CONSTRAINT "small" CHECK("todo"."rank" < 10)'];
const INDEXES = [
  'CREATE UNIQUE INDEX `todo_title_unique` ON `todo` (`title`)',
  'CREATE UNIQUE INDEX `todo_rank` ON `todo` (`rank`, lower("title")) WHERE "todo"."rank" is not null',
];

/** A table in the form that drizzle-kit writes, with some parts replaced. */
function differences(
  { columns = {}, constraints = CONSTRAINTS, options = '', after = INDEXES }: Parts,
  table: TableSchema = declared,
): ShapeDifference[] {
  const connection = new Connection(testRuntime, { path: ':memory:' });
  connection.exec(PARENT);
  connection.exec(
    `CREATE TABLE \`todo\` (${[...Object.values({ ...COLUMNS, ...columns }), ...constraints].join(', ')}) ${options}`,
  );
  for (const sql of after) connection.exec(sql);
  const found = shapeDifferences(connection, table);
  connection.close();
  return found;
}

describe('a migrated table equals the schema', () => {
  it.each<[string, Parts]>([
    ['as drizzle-kit writes it', {}],
    ['with UNIQUE as a constraint', { constraints: [...CONSTRAINTS, 'UNIQUE (title)'], after: INDEXES.slice(1) }],
    ['with another order of columns', { columns: { id: COLUMNS.rank, rank: COLUMNS.id } }],
    [
      'with a longer type name, a default of NULL, brackets and comments',
      {
        columns: { title: 'title VARCHAR(20) DEFAULT NULL -- a comment' + '\n' },
        constraints: ['CHECK ((( rank<10 /* ten */ )))'],
      },
    ],
    [
      'with indexes that are not unique, and triggers',
      {
        after: [
          ...INDEXES,
          'CREATE INDEX more ON todo (rank)',
          'CREATE TRIGGER t AFTER INSERT ON todo BEGIN SELECT 1; END',
        ],
      },
    ],
    [
      'with a foreign key to the primary key, unnamed',
      { columns: { parent_id: 'parent_id text REFERENCES parent ON DELETE CASCADE' } },
    ],
  ])('%s', (_, parts) => {
    expect(differences(parts)).toEqual([]);
  });
});

describe('a migrated table differs from the schema', () => {
  it.each<[string, Parts, ShapeDifference[]]>([
    [
      'by a collation',
      { columns: { rank: 'rank integer COLLATE NOCASE' } },
      [
        { column: 'rank', declared: 'collation BINARY', found: 'collation NOCASE' },
        {
          column: null,
          declared: 'unique (lower ( title ) BINARY, rank BINARY) where rank is not null',
          found: 'unique (lower ( title ) BINARY, rank NOCASE) where rank is not null',
        },
      ],
    ],
    [
      'by the collation of a unique index',
      { after: ['CREATE UNIQUE INDEX u ON todo (title COLLATE NOCASE)', INDEXES[1] ?? ''] },
      [{ column: null, declared: 'unique (title BINARY)', found: 'unique (title NOCASE)' }],
    ],
    [
      'by the collation of the key',
      { columns: { id: 'id text NOT NULL' }, constraints: [...CONSTRAINTS, 'PRIMARY KEY (id COLLATE NOCASE)'] },
      [{ column: null, declared: 'primary key (id BINARY)', found: 'primary key (id NOCASE)' }],
    ],
    [
      'by a default',
      { columns: { rank: 'rank integer DEFAULT 7' } },
      [{ column: 'rank', declared: 'default NULL', found: 'default 7' }],
    ],
    [
      'by a type',
      { columns: { title: 'title blob' } },
      [{ column: 'title', declared: 'type text', found: 'type blob' }],
    ],
    [
      'by a column without a type',
      { columns: { title: 'title' } },
      [{ column: 'title', declared: 'type text', found: 'type blob' }],
    ],
    [
      'by a key that allows NULL',
      { columns: { id: 'id text PRIMARY KEY' } },
      [{ column: 'id', declared: 'nothing', found: 'key that allows NULL' }],
    ],
    [
      'by ON CONFLICT of a column',
      { columns: { id: 'id text PRIMARY KEY ON CONFLICT REPLACE NOT NULL' } },
      [{ column: null, declared: 'nothing', found: 'on conflict replace' }],
    ],
    [
      'by ON CONFLICT of a table',
      { constraints: [...CONSTRAINTS, 'UNIQUE (title) ON CONFLICT IGNORE'], after: INDEXES.slice(1) },
      [{ column: null, declared: 'nothing', found: 'on conflict ignore' }],
    ],
    ['by STRICT', { options: 'STRICT' }, [{ column: null, declared: 'nothing', found: 'STRICT' }]],
    ['by WITHOUT ROWID', { options: 'WITHOUT ROWID' }, [{ column: null, declared: 'nothing', found: 'WITHOUT ROWID' }]],
    [
      'by an additional CHECK',
      { columns: { title: 'title text CHECK (length(title) < 5)' } },
      [{ column: null, declared: 'nothing', found: 'check length ( title ) < 5' }],
    ],
    [
      'by another CHECK',
      { constraints: ['CHECK (rank < 11)'] },
      [{ column: null, declared: 'check rank < 10', found: 'check rank < 11' }],
    ],
    ['by a missing CHECK', { constraints: [] }, [{ column: null, declared: 'check rank < 10', found: 'nothing' }]],
    [
      'by an additional UNIQUE',
      { columns: { rank: 'rank integer UNIQUE' } },
      [{ column: null, declared: 'nothing', found: 'unique (rank BINARY)' }],
    ],
    [
      'by a missing UNIQUE',
      { after: INDEXES.slice(1) },
      [{ column: null, declared: 'unique (title BINARY)', found: 'nothing' }],
    ],
    [
      'by another condition of a unique index',
      { after: [INDEXES[0] ?? '', 'CREATE UNIQUE INDEX todo_rank ON todo (rank, lower(title))'] },
      [
        {
          column: null,
          declared: 'unique (lower ( title ) BINARY, rank BINARY) where rank is not null',
          found: 'unique (lower ( title ) BINARY, rank BINARY)',
        },
      ],
    ],
    [
      'by another action of a foreign key',
      { columns: { parent_id: 'parent_id text REFERENCES parent (id)' } },
      [
        {
          column: null,
          declared: 'foreign key to parent: parent_id to id on update no action on delete cascade',
          found: 'foreign key to parent: parent_id to id on update no action on delete no action',
        },
      ],
    ],
    [
      'by a missing foreign key',
      { columns: { parent_id: 'parent_id text' } },
      [
        {
          column: null,
          declared: 'foreign key to parent: parent_id to id on update no action on delete cascade',
          found: 'nothing',
        },
      ],
    ],
    [
      'by another generated value',
      { columns: { double: 'double integer AS (rank*3) STORED' } },
      [{ column: 'double', declared: 'generated stored as rank * 2', found: 'generated stored as rank * 3' }],
    ],
    [
      'by a generated column that is not stored',
      { columns: { double: 'double integer AS (rank*2) VIRTUAL' } },
      [{ column: 'double', declared: 'generated stored as rank * 2', found: 'generated virtual as rank * 2' }],
    ],
  ])('%s', (_, parts, expected) => {
    expect(differences(parts)).toEqual(expected);
  });
});

describe('migrations', () => {
  const note = testTable('note', { id: 'text not null', text: 'text' });

  it('are rejected if they produce a different shape, report both declarations, and change nothing', async () => {
    const medium = memoryMedium();
    const migration = {
      tag: '0000',
      sql: 'CREATE TABLE note (id text PRIMARY KEY NOT NULL, text text COLLATE NOCASE)',
    };
    await expect(openStored(medium, { schema: buildSchema([note]), migrations: [migration] })).rejects.toMatchObject({
      code: 'migration-failed',
      fields: {
        differences: 'column note.text: the schema declares collation BINARY, the database has collation NOCASE',
      },
    });
    const { database, close } = await openStored(medium, { schema: buildSchema([note]) });
    expect(database.connection.rows('SELECT * FROM note')).toEqual([]);
    await close();
  });

  it.each([
    [
      'a name that hides a synced table',
      'CREATE TEMP VIEW note AS SELECT 1',
      { reason: 'sql-forbidden', problem: 'name-taken' },
    ],
    [
      'a TEMP trigger on a synced table',
      'CREATE TRIGGER temp.t AFTER INSERT ON note BEGIN SELECT 1; END',
      { reason: 'sql-forbidden', problem: 'temp-trigger' },
    ],
    [
      'a trigger on an internal table',
      'CREATE TRIGGER t AFTER INSERT ON rockpool_changelog BEGIN SELECT 1; END',
      { reason: 'sql-forbidden', problem: 'internal-table' },
    ],
    [
      'a reserved name, by renaming',
      'CREATE TABLE x (a); --> statement-breakpoint\nALTER TABLE x RENAME TO rockpool_x',
      { problem: 'the table name is reserved', name: 'rockpool_x' },
    ],
  ])('may not create %s', async (_, sql, fields) => {
    const migrations = [
      { tag: '0000', sql: 'CREATE TABLE note (id text PRIMARY KEY NOT NULL, text text)' },
      { tag: '0001', sql },
    ];
    await expect(openStored(memoryMedium(), { schema: buildSchema([note]), migrations })).rejects.toMatchObject({
      code: 'migration-failed',
      fields,
    });
  });
});
