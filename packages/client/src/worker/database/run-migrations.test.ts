import { buildSchema, DEFAULT_MERGE_RULES, RockpoolError, type Schema } from '@rockpool/shared';
import { memoryMedium, type Medium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import type { Migration } from '../../rpc/migration.ts';
import type { WriteAction } from '../../rpc/write-action.ts';
import { admitted, testDelivery, testGroup, testSync } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openStored, type StoredDatabase } from '../../../testing/worker/test-database.ts';

const migration = (tag: string, ...statements: string[]): Migration => ({
  tag,
  sql: statements.join('\n--> statement-breakpoint\n'),
});

// Migrations in the form that drizzle-kit writes.
const FIRST = migration(
  '0000_first',
  'CREATE TABLE `todo` (`id` text PRIMARY KEY NOT NULL, `title` text NOT NULL)',
  'CREATE TABLE `draft` (`id` text PRIMARY KEY NOT NULL, `body` text)',
);
const SECOND = migration(
  '0001_done',
  'ALTER TABLE `todo` ADD `done` integer DEFAULT 0 NOT NULL;',
  'CREATE INDEX `todo_done` ON `todo` (`done`);',
);

const draft = testTable('draft', { id: 'text not null', body: 'text' }, { synced: false });
const firstSchema = buildSchema([testTable('todo', { id: 'text not null', title: 'text not null' }), draft]);
const doneIndex = { name: 'todo_done', unique: false, expressions: ['"done"'], whereSql: null };
const secondSchema = buildSchema([
  testTable(
    'todo',
    { id: 'text not null', title: 'text not null', done: 'integer not null default 0' },
    { indexes: [doneIndex] },
  ),
  draft,
]);

const open = (medium: Medium, schema: Schema, ...migrations: Migration[]): Promise<StoredDatabase> =>
  openStored(medium, { schema, migrations });

/** Why the bundle may only read. */
async function readOnlyReason(medium: Medium, schema: Schema, ...migrations: Migration[]): Promise<unknown> {
  const { database, close } = await open(medium, schema, ...migrations);
  const { readOnly } = database;
  await close();
  return readOnly;
}

async function failureOf(opening: Promise<StoredDatabase>): Promise<RockpoolError> {
  const thrown = await opening.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(RockpoolError);
  return thrown as RockpoolError;
}

/** A database that the first version of the app has used. */
async function used(...titles: string[]): Promise<Medium> {
  const medium = memoryMedium();
  const { database, close } = await open(medium, firstSchema, FIRST);
  database.write({
    id: 'use',
    statements: titles.map((title) => ({ sql: 'INSERT INTO todo VALUES (?, ?)', params: [title, title] })),
  });
  await close();
  return medium;
}

async function rowsOf(medium: Medium, schema: Schema, migrations: Migration[], sql: string): Promise<unknown[][]> {
  const { database, close } = await open(medium, schema, ...migrations);
  const rows = database.connection.rows(sql);
  await close();
  return rows;
}

describe('migrations of the app', () => {
  it('create a new database, and migrate a used database, once', async () => {
    const medium = await used('milk');
    expect(await rowsOf(medium, secondSchema, [FIRST, SECOND], 'SELECT * FROM todo')).toEqual([['milk', 'milk', 0]]);
    expect(await rowsOf(medium, secondSchema, [FIRST, SECOND], 'SELECT * FROM todo')).toEqual([['milk', 'milk', 0]]);
    expect(await rowsOf(memoryMedium(), secondSchema, [FIRST, SECOND], 'SELECT count(*) FROM todo')).toEqual([[0]]);
  });

  it('create tables that are captured and synced like those of a schema', async () => {
    const { database, close } = await open(await used(), secondSchema, FIRST, SECOND);
    const { sequence } = database.write({
      id: 'w',
      statements: [{ sql: "INSERT INTO todo VALUES ('a', 'x', 1)", params: [] }],
    });
    expect(sequence).toBe(1);
    await close();
  });

  it('leave the database unchanged when one of them fails, and report which and why', async () => {
    const medium = await used('milk');
    const broken = migration(
      '0002_broken',
      'CREATE TABLE `extra` (`id` text PRIMARY KEY NOT NULL)',
      'ALTER TABLE `nowhere` ADD `x` text',
    );
    const failure = await failureOf(open(medium, secondSchema, FIRST, SECOND, broken));
    expect(failure).toMatchObject({
      code: 'migration-failed',
      fields: { migration: '0002_broken', statement: 2, reason: 'query-invalid' },
    });
    expect(
      await rowsOf(
        medium,
        firstSchema,
        [FIRST],
        "SELECT name FROM sqlite_schema WHERE name IN ('todo', 'extra', 'todo_done')",
      ),
    ).toEqual([['todo']]);
  });

  it('must produce the schema, and report all differences at once', async () => {
    const failure = await failureOf(open(await used(), secondSchema, FIRST));
    expect(failure.code).toBe('migration-failed');
    expect(failure.fields['differences']).toContain('todo.done is missing');
    const wrong = migration('0001_wrong', 'ALTER TABLE `todo` ADD `wrong` text');
    expect((await failureOf(open(await used(), secondSchema, FIRST, wrong))).fields['differences']).toBe(
      'column todo.done is missing\ncolumn todo.wrong is not in the schema',
    );
  });

  it('must not make a local table a synced one, whose rows would never be sent', async () => {
    const medium = await used();
    const { database, close } = await open(medium, firstSchema, FIRST);
    database.write({ id: 'w', statements: [{ sql: "INSERT INTO draft VALUES ('a', 'mine')", params: [] }] });
    await close();
    const flipped = buildSchema(firstSchema.tables.map((table) => ({ ...table, synced: true })));
    expect(await failureOf(open(medium, flipped, FIRST))).toMatchObject({
      code: 'migration-failed',
      fields: { table: 'draft', problem: 'the synced state of the table changed' },
    });
    expect(await rowsOf(medium, firstSchema, [FIRST], 'SELECT * FROM draft')).toEqual([['a', 'mine']]);
  });

  it('must not be edited once they have run', async () => {
    const medium = await used();
    const edited = { ...FIRST, sql: `${FIRST.sql} ` };
    expect(await failureOf(open(medium, firstSchema, edited))).toMatchObject({
      code: 'migration-failed',
      fields: { migration: '0000_first' },
    });
  });

  it('are the same in a build whose files end lines with CR and LF', async () => {
    const other = { ...FIRST, sql: FIRST.sql.replaceAll('\n', '\r\n') };
    expect(await rowsOf(await used('milk'), firstSchema, [other], 'SELECT title FROM todo')).toEqual([['milk']]);
  });

  it('are the same in a database that an earlier version of Rockpool migrated from files with CR and LF', async () => {
    const medium = await used('milk');
    const { database, close } = await open(medium, secondSchema, FIRST, SECOND);
    // The hashes of the text with CR.
    database.meta.set(
      'migrations_json',
      JSON.stringify([
        [FIRST.tag, 'a20123f7'],
        [SECOND.tag, '57c3e37d'],
      ]),
    );
    await close();
    // An older bundle is recognized as such, and may write while a newer one is in use. It compares the hashes with its
    // own, so a later migration keeps them.
    expect(await readOnlyReason(medium, firstSchema, FIRST)).toBeNull();
    const withCr = [FIRST, SECOND].map(({ tag, sql }) => ({ tag, sql: sql.replaceAll('\n', '\r\n') }));
    for (const migrations of [[FIRST, SECOND], withCr])
      expect(await rowsOf(medium, secondSchema, migrations, 'SELECT * FROM todo')).toEqual([['milk', 'milk', 0]]);
    const third = await open(medium, secondSchema, FIRST, SECOND, migration('0002_view', 'CREATE VIEW v AS SELECT 1'));
    expect(JSON.parse(String(third.database.meta.get('migrations_json'))).slice(0, 2)).toEqual([
      [FIRST.tag, 'a20123f7'],
      [SECOND.tag, '57c3e37d'],
    ]);
    await third.close();
  });

  it('adopt a database that was created without them', async () => {
    const medium = memoryMedium();
    const plain = await openStored(medium, { schema: firstSchema });
    plain.database.write({ id: 'a', statements: [{ sql: "INSERT INTO todo VALUES ('a', 'x')", params: [] }] });
    await plain.close();
    expect(await rowsOf(medium, secondSchema, [FIRST, SECOND], 'SELECT * FROM todo')).toEqual([['a', 'x', 0]]);
  });

  it('can rebuild a table as drizzle-kit does, with rows that refer to it', async () => {
    const parent = migration(
      '0000_a',
      'CREATE TABLE `list` (`id` text PRIMARY KEY NOT NULL, `name` text)',
      'CREATE TABLE `item` (`id` text PRIMARY KEY NOT NULL, `list_id` text REFERENCES `list`(`id`))',
    );
    const rebuild = migration(
      '0001_b',
      'PRAGMA foreign_keys=OFF;',
      "CREATE TABLE `__new_list` (`id` text PRIMARY KEY NOT NULL, `name` text DEFAULT '?')",
      'INSERT INTO `__new_list`("id", "name") SELECT "id", "name" FROM `list`;',
      'DROP TABLE `list`;',
      'ALTER TABLE `__new_list` RENAME TO `list`;',
      'PRAGMA foreign_keys=ON;',
    );
    const item = testTable(
      'item',
      { id: 'text not null', list_id: 'text' },
      {
        foreignKeys: [
          {
            columns: ['list_id'],
            foreignTable: 'list',
            foreignColumns: ['id'],
            onDelete: 'no action',
            onUpdate: 'no action',
          },
        ],
      },
    );
    const medium = memoryMedium();
    const { database, close } = await open(
      medium,
      buildSchema([testTable('list', { id: 'text not null', name: 'text' }), item]),
      parent,
    );
    database.write({
      id: 'a',
      statements: ["INSERT INTO list VALUES ('l', 'x')", "INSERT INTO item VALUES ('i', 'l')"].map((text) => ({
        sql: text,
        params: [],
      })),
    });
    await close();
    const schema = buildSchema([testTable('list', { id: 'text not null', name: "text default '?'" }), item]);
    expect(
      await rowsOf(
        medium,
        schema,
        [parent, rebuild],
        'SELECT item.id, list.name FROM item JOIN list ON list.id = list_id',
      ),
    ).toEqual([['i', 'x']]);
  });

  it('are rejected if they break references, but not for references that were broken before', async () => {
    const list = testTable('list', { id: 'text not null' });
    const refers = {
      foreignKeys: [
        {
          columns: ['list_id'],
          foreignTable: 'list',
          foreignColumns: ['id'],
          onDelete: 'cascade',
          onUpdate: 'no action',
        },
      ],
    } as const;
    const item = testTable('item', { id: 'text not null', list_id: 'text' }, refers);
    const start = testTable('start', { list_id: 'text' }, { ...refers, primaryKey: [], synced: false });
    const key = '`list_id` text REFERENCES `list`(`id`) ON DELETE CASCADE';
    const first = migration(
      '0000_first',
      'CREATE TABLE `list` (`id` text PRIMARY KEY NOT NULL)',
      `CREATE TABLE \`item\` (\`id\` text PRIMARY KEY NOT NULL, ${key})`,
      `CREATE TABLE \`start\` (${key})`,
    );
    const schema = buildSchema([list, item, start]);
    const medium = memoryMedium();
    const { database, close } = await open(medium, schema, first);
    const write = (...sql: string[]): unknown =>
      database.write({ id: sql.join(), statements: sql.map((text) => ({ sql: text, params: [] })) });
    write("INSERT INTO list VALUES ('l'), ('m')");
    write("INSERT INTO item VALUES ('i', 'l'), ('j', 'm')", "INSERT INTO start VALUES ('l')");
    // Another device deletes the list of a pending and of a local row.
    const groups = [testGroup('delete', list, [{ id: 'l' }])];
    testSync(database).applyDelivery(testDelivery({ to: 2, lastAckedSequence: 1, outcomes: admitted(1, 1), groups }));
    await close();

    const unrelated = migration('0001_unrelated', 'CREATE INDEX `by_list` ON `item` (`list_id`)');
    expect(await rowsOf(medium, schema, [first, unrelated], 'SELECT id FROM item ORDER BY id')).toEqual([['i'], ['j']]);
    const breaking = migration(
      '0002_breaking',
      'CREATE TABLE `__new_list` (`id` text PRIMARY KEY NOT NULL)',
      'DROP TABLE `list`',
      'ALTER TABLE `__new_list` RENAME TO `list`',
    );
    expect(await failureOf(open(medium, schema, first, unrelated, breaking))).toMatchObject({
      code: 'migration-failed',
      fields: { migration: '0002_breaking', table: 'item' },
    });
  });

  it('can write rows of local tables, but not of synced ones, because every device would repeat the write', async () => {
    const local = migration('0001_local', "INSERT INTO `draft` VALUES ('a', 'seed')");
    expect(await rowsOf(await used(), firstSchema, [FIRST, local], 'SELECT body FROM draft')).toEqual([['seed']]);
    const seed = migration('0001_seed', "UPDATE `todo` SET title = 'x'");
    expect(await failureOf(open(await used('milk'), firstSchema, FIRST, seed))).toMatchObject({
      code: 'migration-failed',
      fields: { reason: 'sql-forbidden', problem: 'rows-of-synced-table' },
    });
    const internal = migration('0001_internal', 'DELETE FROM rockpool_changelog');
    expect(await failureOf(open(await used('milk'), firstSchema, FIRST, internal))).toMatchObject({
      code: 'migration-failed',
      fields: { problem: 'internal-table' },
    });
  });

  it('can rename and drop only tables and columns that no unsent change names', async () => {
    const rename = migration('0001_rename', 'ALTER TABLE `todo` RENAME COLUMN `title` TO `name`');
    const renamed = buildSchema([testTable('todo', { id: 'text not null', name: 'text not null' }), draft]);
    const medium = await used('milk');
    expect(await readOnlyReason(medium, renamed, FIRST, rename)).toMatchObject({
      code: 'migration-refused',
      fields: { table: 'todo', column: 'title' },
    });
    const { database, close } = await open(medium, firstSchema, FIRST);
    database.outbox.markAcknowledged(1, Date.now());
    await close();
    expect(await rowsOf(medium, renamed, [FIRST, rename], 'SELECT id, name FROM todo')).toEqual([['milk', 'milk']]);
    const drop = migration('0002_drop', 'DROP TABLE `todo`');
    expect(
      await rowsOf(
        medium,
        buildSchema([draft]),
        [FIRST, rename, drop],
        "SELECT count(*) FROM sqlite_schema WHERE name = 'todo'",
      ),
    ).toEqual([[0]]);
  });

  it('can drop a table that only a rejected change names', async () => {
    const medium = await used('milk');
    const { database, close } = await open(medium, firstSchema, FIRST);
    database.rejected.add(1, new RockpoolError('changeset-refused').toData(), Date.now());
    database.outbox.markAcknowledged(1, Date.now());
    await close();
    const drop = migration('0001_drop', 'DROP TABLE `todo`');
    expect(await readOnlyReason(medium, buildSchema([draft]), FIRST, drop)).toBeNull();
  });

  describe('with a new merge rule', () => {
    const create = migration(
      '0000_poll',
      'CREATE TABLE `poll` (`id` text PRIMARY KEY NOT NULL, `votes` integer NOT NULL, `name` text)',
    );
    const columns = { id: 'text not null', votes: 'integer not null', name: 'text' };
    const plain = buildSchema([testTable('poll', columns)]);
    const counting = buildSchema([
      testTable('poll', columns, { merge: { ...DEFAULT_MERGE_RULES, counters: ['votes'] } }),
    ]);
    const refused = { code: 'migration-refused', fields: { table: 'poll', column: 'votes' } };
    const write = async (medium: Medium, sql: string, reject = false, schema = plain): Promise<void> => {
      const { database, close } = await open(medium, schema, create);
      database.outbox.markAcknowledged(database.changelog.head().sequence, Date.now());
      database.write({ id: sql, statements: [{ sql, params: [] }] });
      if (reject) {
        const { sequence } = database.changelog.head();
        database.rejected.add(sequence, new RockpoolError('changeset-refused').toData(), Date.now());
        database.outbox.markAcknowledged(sequence, Date.now());
      }
      await close();
    };

    it('can make a column a counter only if no unsent update names it', async () => {
      const medium = memoryMedium();
      await write(medium, "INSERT INTO poll VALUES ('p', 3, 'x')");
      await write(medium, 'UPDATE poll SET votes = 5');
      expect(await readOnlyReason(medium, counting, create)).toMatchObject(refused);
      await write(medium, "UPDATE poll SET name = 'y'");
      expect(await rowsOf(medium, counting, [create], 'SELECT votes FROM poll')).toEqual([[5]]);
    });

    it('opens the database only for reading and sync while a migration waits, and migrates when nothing is undecided', async () => {
      const ranked = buildSchema([
        testTable('poll', { ...columns, rank: 'integer' }, { merge: { ...DEFAULT_MERGE_RULES, counters: ['votes'] } }),
      ]);
      const addRank = migration('0001_rank', 'ALTER TABLE `poll` ADD `rank` integer');
      const medium = memoryMedium();
      await write(medium, "INSERT INTO poll VALUES ('p', 3, 'x')");
      await write(medium, 'UPDATE poll SET votes = 5', true);
      await write(medium, 'UPDATE poll SET votes = 6');
      const { database, close } = await open(medium, ranked, create, addRank);
      expect(database.readOnly).toMatchObject(refused);
      const reader = await openStored(medium, { schema: ranked, migrations: [create, addRank], role: 'reader' });
      expect(reader.database.connection.rows('SELECT votes FROM poll')).toEqual([[6]]);
      await reader.close();
      const act = (id: string, action: WriteAction): unknown => database.write({ id, statements: [], action });
      for (const refusedWrite of [
        (): unknown => database.write({ id: 'w', statements: [{ sql: 'UPDATE poll SET votes = 7', params: [] }] }),
        (): unknown => database.begin({ atomic: false }),
        (): unknown => act('u', { kind: 'undo', requestId: 'UPDATE poll SET votes = 6' }),
      ])
        expect(refusedWrite).toThrow(expect.objectContaining({ code: 'migration-refused' }));
      // The unsent update is sent as it was written, under the schema that gives it its meaning.
      expect(database.schema.hash).toBe(plain.hash);
      expect(database.outbox.nextPush(2, 1_000_000)?.changesets).toHaveLength(1);
      const retry = { id: 'r', statements: [], action: { kind: 'retry-rejected', sequence: 2 } } as const;
      const reason = database.readOnly as RockpoolError;
      expect(() => database.write(retry, reason)).toThrow(reason);
      database.write(retry);
      // A retry that was committed before, whose response was lost, is not refused.
      expect(database.write(retry, reason)).toMatchObject({ repeated: true });
      expect(database.connection.rows('SELECT votes FROM poll')).toEqual([[5]]);
      expect(database.listRejected()).toEqual([]);
      database.outbox.markAcknowledged(database.changelog.head().sequence, Date.now());
      await close();
      expect(await rowsOf(medium, ranked, [create, addRank], 'SELECT votes, rank FROM poll')).toEqual([[5, null]]);
      expect(await readOnlyReason(medium, ranked, create, addRank)).toBeNull();
    });

    it('can make a column a counter even if an unsent insert names it, because the insert carries the value', async () => {
      const medium = memoryMedium();
      await write(medium, "INSERT INTO poll VALUES ('p', 3, 'x')");
      expect(await rowsOf(medium, counting, [create], 'SELECT votes FROM poll')).toEqual([[3]]);
    });

    it('cannot make a counter a document while an unsent change names it', async () => {
      const documents = buildSchema([
        testTable(
          'poll',
          { ...columns, votes: 'text not null' },
          {
            merge: {
              ...DEFAULT_MERGE_RULES,
              documents: [{ column: 'votes', text: [], elementKey: 'id', maxLength: 100, maxDepth: 8 }],
            },
          },
        ),
      ]);
      const medium = memoryMedium();
      await write(medium, "INSERT INTO poll VALUES ('p', 3, 'x')", false, counting);
      expect(await readOnlyReason(medium, documents, create)).toMatchObject(refused);
      await write(medium, 'UPDATE poll SET votes = 5', false, counting);
      expect(await readOnlyReason(medium, documents, create)).toMatchObject(refused);
    });

    it('cannot make a column a counter while a rejected update, which may be retried, names it', async () => {
      const medium = memoryMedium();
      await write(medium, "INSERT INTO poll VALUES ('p', 3, 'x')");
      await write(medium, 'UPDATE poll SET votes = 5', true);
      expect(await readOnlyReason(medium, counting, create)).toMatchObject(refused);
      const { database, close } = await open(medium, plain, create);
      database.retryRejected(2);
      await close();
      await write(medium, "UPDATE poll SET name = 'y'");
      expect(await rowsOf(medium, counting, [create], 'SELECT votes FROM poll')).toEqual([[5]]);
    });
  });
});
