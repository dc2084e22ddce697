import { buildSchema, encodeSchema, RockpoolError, type Schema, type TableSchema } from '@rockpool/shared';
import { memoryMedium, type Medium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import type { Migration } from '../../rpc/migration.ts';
import { testColumn, testTable } from '../../../testing/worker/table-schema.ts';
import { openStored, type StoredDatabase } from '../../../testing/worker/test-database.ts';
import type { OpenDatabase } from './open-database.ts';

const note = testTable('note', { id: 'text not null', text: 'text', rank: 'integer' });
const FIRST = buildSchema([note]);
const withColumns = (...columns: readonly (readonly [string, string])[]): TableSchema => ({
  ...note,
  columns: [...note.columns, ...columns.map(([name, declaration]) => testColumn(name, declaration))],
});

/** The additions that a newer bundle may make without migrations. */
const SECOND = buildSchema([
  {
    ...withColumns(
      ['icon', 'text'],
      ['colour', "text not null default 'grey'"],
      ['score', 'real not null default (1)'],
    ),
    indexes: [{ name: 'note_icon', unique: false, expressions: ['"icon"'], whereSql: null }],
  },
  testTable(
    'tag',
    { id: 'text not null', note_id: 'text' },
    {
      foreignKeys: [
        {
          columns: ['note_id'],
          foreignTable: 'note',
          foreignColumns: ['id'],
          onDelete: 'cascade',
          onUpdate: 'no action',
        },
      ],
    },
  ),
]);

async function using<T>(
  medium: Medium,
  schema: Schema,
  body: (database: OpenDatabase) => T,
  migrations: readonly Migration[] | null = null,
): Promise<T> {
  const { database, close } = await openStored(medium, { schema, migrations });
  try {
    return body(database);
  } finally {
    await close();
  }
}

const CREATE_NOTE: Migration = {
  tag: '0000_note',
  sql: 'CREATE TABLE `note` (`id` text PRIMARY KEY NOT NULL, `text` text, `rank` integer)',
};

/** Changes with every change of a table or index. */
const schemaVersion = ({ connection }: OpenDatabase): unknown => connection.value('PRAGMA schema_version');

let writes = 0;
const write = (database: OpenDatabase, ...statements: string[]): unknown =>
  database.write({ id: `w${++writes}`, statements: statements.map((sql) => ({ sql, params: [] })) });

function codeOf(body: () => unknown): string {
  try {
    body();
    return 'none';
  } catch (thrown) {
    return thrown instanceof RockpoolError ? thrown.code : String(thrown);
  }
}

const columnsOf = (database: OpenDatabase, sequence: number): unknown[] => {
  const nameOf = new Map(database.schema.tables.flatMap(({ columns }) => columns.map(({ id, name }) => [id, name])));
  return (database.changelog.read(sequence)?.groups ?? []).map(({ kind, columnIds }) => [
    kind,
    ...columnIds.map((id) => nameOf.get(id)),
  ]);
};

/** A file that the newer bundle has used, after the older one or as the first bundle. */
async function mediumUsedBySecond(isUpgraded: boolean): Promise<Medium> {
  const medium = memoryMedium();
  if (isUpgraded)
    await using(medium, FIRST, (database) => write(database, "INSERT INTO note (id, text) VALUES ('old', 'x')"));
  await using(medium, SECOND, (database) =>
    write(
      database,
      "INSERT INTO note (id, text, icon, colour, score) VALUES ('new', 'y', 'star', 'red', 2)",
      "INSERT INTO tag VALUES ('t', 'new')",
    ),
  );
  return medium;
}

describe.each([
  ['was upgraded', true],
  ['was created by the newer bundle', false],
] as const)('an older bundle on a database that %s', (_, isUpgraded) => {
  it('reads and writes: unknown columns keep their values, and get their defaults in new rows', async () => {
    const medium = await mediumUsedBySecond(isUpgraded);
    const version = await using(medium, SECOND, schemaVersion);
    await using(medium, FIRST, (database) => {
      expect(database.readOnly).toBeNull();
      write(
        database,
        "UPDATE note SET text = 'z' WHERE id = 'new'",
        "INSERT INTO note (id, text) VALUES ('mine', 'm')",
        "INSERT INTO note (id, text) VALUES ('new', '!') ON CONFLICT (id) DO UPDATE SET text = excluded.text",
      );
      expect(
        database.connection.rows("SELECT id, text, icon, colour, score FROM note WHERE id <> 'old' ORDER BY id"),
      ).toEqual([
        ['mine', 'm', null, 'grey', 1],
        ['new', '!', 'star', 'red', 2],
      ]);
    });
    await using(medium, SECOND, (database) => {
      expect([database.schema.hash, schemaVersion(database)]).toEqual([SECOND.hash, version]);
      expect(database.connection.rows('SELECT id, note_id FROM tag')).toEqual([['t', 'new']]);
      expect(database.connection.rows("SELECT colour FROM note WHERE id = 'new'")).toEqual([['red']]);
      expect(database.connection.rows("SELECT name FROM sqlite_schema WHERE name = 'note_icon'")).toHaveLength(1);
    });
  });

  it('captures inserts with its own columns and with others that differ from their default, and changes in unknown tables', async () => {
    await using(await mediumUsedBySecond(isUpgraded), FIRST, (database) => {
      write(database, "INSERT INTO note (id, text) VALUES ('mine', 'm')");
      const { sequence } = database.changelog.head();
      expect(columnsOf(database, sequence)).toEqual([['insert', 'text', 'rank']]);
      write(database, "INSERT INTO note (id, colour, score) VALUES ('other', 'blue', 1.0)");
      expect(columnsOf(database, sequence + 1)).toEqual([['insert', 'text', 'rank', 'colour']]);
      write(database, "DELETE FROM note WHERE id = 'new'");
      expect(database.changelog.read(sequence + 2)?.groups.map(({ kind, keys }) => [kind, keys])).toEqual([
        ['delete', [['new']]],
        ['delete', [['t']]],
      ]);
    });
  });
});

it('an older bundle captures an unknown column if its default is not constant', async () => {
  const medium = memoryMedium();
  await using(medium, buildSchema([withColumns(['made', 'text default (CURRENT_TIMESTAMP)'])]), () => undefined);
  await using(medium, FIRST, (database) => {
    write(database, "INSERT INTO note (id, text) VALUES ('mine', 'm')");
    expect(columnsOf(database, 1)).toEqual([['insert', 'text', 'rank', 'made']]);
  });
});

describe('bundles with different additions', () => {
  const DOCUMENT = { column: 'text', text: [], elementKey: 'id', maxLength: 100, maxDepth: 8 };
  const OTHER = buildSchema([withColumns(['pinned', 'integer not null default 0'])]);

  it('share one database, which has the additions of each', async () => {
    const medium = await mediumUsedBySecond(true);
    const versions: unknown[] = [];
    for (let round = 0; round < 2; round++) {
      await using(medium, OTHER, (database) =>
        write(database, `INSERT INTO note (id, pinned) VALUES ('p${round}', 1)`),
      );
      await using(medium, SECOND, (database) =>
        write(database, `INSERT INTO note (id, colour) VALUES ('c${round}', 'red')`),
      );
      await using(medium, FIRST, (database) => write(database, `INSERT INTO note (id) VALUES ('f${round}')`));
      versions.push(await using(medium, OTHER, schemaVersion));
    }
    expect(versions[1]).toBe(versions[0]);
    await using(medium, OTHER, (database) => {
      expect(
        database.connection.rows("SELECT id, colour, pinned FROM note WHERE id <> 'new' AND id <> 'old' ORDER BY id"),
      ).toEqual([
        ['c0', 'red', 0],
        ['c1', 'red', 0],
        ['f0', 'grey', 0],
        ['f1', 'grey', 0],
        ['p0', 'grey', 1],
        ['p1', 'grey', 1],
      ]);
    });
  });

  it('keep the newer merge rules, whichever bundle opens the database', async () => {
    const medium = memoryMedium();
    const rules = (schema: TableSchema): Schema =>
      buildSchema([{ ...schema, merge: { ...schema.merge, deleteRule: 'update-wins', groups: [['text', 'rank']] } }]);
    await using(medium, FIRST, () => undefined);
    await using(medium, rules(note), (database) =>
      write(database, "INSERT INTO note (id, text, rank) VALUES ('a', 'x', 1)"),
    );
    await using(medium, FIRST, (database) => {
      expect([database.readOnly, database.schema.hash]).toEqual([null, rules(note).hash]);
      write(database, "UPDATE note SET text = 'y'");
      expect(columnsOf(database, 2)).toEqual([['update', 'text', 'rank']]);
    });
  });

  it('know which of two bundles has the newer merge rules, from the schemas that the file had', async () => {
    const medium = memoryMedium();
    const withRules = (merge: Partial<TableSchema['merge']>): Schema =>
      buildSchema([{ ...note, merge: { ...note.merge, ...merge } }]);
    const grouped = withRules({ groups: [['text', 'rank']] });
    const merging = withRules({ documents: [DOCUMENT] });
    const isOlder = (database: OpenDatabase, ...than: Schema[]): boolean[] =>
      than.map((schema) => database.hasOlderRulesThan(encodeSchema(schema)));
    await using(medium, FIRST, (database) =>
      // Without migrations, no bundle can make a column of the file a document.
      expect(isOlder(database, FIRST, grouped, merging)).toEqual([false, true, false]),
    );
    await using(medium, grouped, (database) =>
      expect(isOlder(database, FIRST, grouped, withRules({ deleteRule: 'update-wins' }))).toEqual([false, false, true]),
    );
    await using(medium, FIRST, (database) => expect(isOlder(database, grouped)).toEqual([false]));
  });

  it('know this by which of two schemas the file had first, after the older bundle has led again', async () => {
    const medium = memoryMedium();
    const grouped = buildSchema([{ ...note, merge: { ...note.merge, groups: [['text', 'rank']] } }]);
    const isOlder = (schema: Schema, than: Schema): Promise<boolean> =>
      using(medium, schema, (database) => database.hasOlderRulesThan(encodeSchema(than)), [CREATE_NOTE]);
    expect(await isOlder(FIRST, grouped)).toBe(true);
    expect(await isOlder(grouped, FIRST)).toBe(false);
    expect(await isOlder(FIRST, grouped)).toBe(true);
    expect(await isOlder(grouped, FIRST)).toBe(false);
  });

  it('do not end a bundle for one that runs no migrations, which cannot change a file with migrations', async () => {
    const medium = memoryMedium();
    const grouped = buildSchema([{ ...note, merge: { ...note.merge, groups: [['text', 'rank']] } }]);
    await using(medium, FIRST, () => undefined, [CREATE_NOTE]);
    await using(medium, FIRST, (database) => expect(database.hasOlderRulesThan(encodeSchema(grouped))).toBe(false));
  });

  it('do not end a bundle for new merge rules that have to wait for unsent changes', async () => {
    const medium = memoryMedium();
    const merging = encodeSchema(buildSchema([{ ...note, merge: { ...note.merge, documents: [DOCUMENT] } }]));
    await using(
      medium,
      FIRST,
      (database) => {
        expect(database.hasOlderRulesThan(merging)).toBe(true);
        write(database, "INSERT INTO note (id, text) VALUES ('a', '{}')");
        expect(database.hasOlderRulesThan(merging)).toBe(false);
      },
      [CREATE_NOTE],
    );
  });
});

describe('an older bundle after migrations', () => {
  const migration = (tag: string, ...statements: string[]): Migration => ({
    tag,
    sql: statements.join('\n--> statement-breakpoint\n'),
  });
  const CREATE = migration(
    '0000_first',
    'CREATE TABLE `note` (`id` text PRIMARY KEY NOT NULL, `text` text, `rank` integer)',
  );
  /** Rebuilds a table as drizzle-kit does. */
  const rebuilt = (columns: string, added = ''): Migration =>
    migration(
      '0001_rebuilt',
      `CREATE TABLE \`__new_note\` (${columns})`,
      `INSERT INTO \`__new_note\` SELECT \`id\`, \`text\`, ifnull(\`rank\`, 0)${added === '' ? '' : `, ${added}`} FROM \`note\``,
      'DROP TABLE `note`',
      'ALTER TABLE `__new_note` RENAME TO `note`',
    );

  async function mediumUsedByBoth(second: Schema, ...migrations: Migration[]): Promise<Medium> {
    const medium = memoryMedium();
    await using(
      medium,
      FIRST,
      (database) => write(database, "INSERT INTO note (id, text, rank) VALUES ('a', 'x', 1)"),
      [CREATE],
    );
    // The column to drop must have no pending changes.
    await using(medium, FIRST, (database) => database.outbox.markAcknowledged(1, 0), [CREATE]);
    await using(medium, second, () => undefined, [CREATE, ...migrations]);
    return medium;
  }

  it('reads and writes if the newer bundle made only additions', async () => {
    const medium = await mediumUsedByBoth(
      buildSchema([withColumns(['done', 'integer not null default 0'])]),
      migration('0001_done', 'ALTER TABLE `note` ADD `done` integer DEFAULT 0 NOT NULL'),
    );
    await using(
      medium,
      FIRST,
      (database) => {
        expect(database.readOnly).toBeNull();
        write(database, "INSERT INTO note (id, text) VALUES ('b', 'y')");
      },
      [CREATE],
    );
    // A bundle from before the first migration can also read the rows.
    await using(medium, FIRST, (database) =>
      expect(database.connection.rows('SELECT id, done FROM note ORDER BY id')).toEqual([
        ['a', 0],
        ['b', 0],
      ]),
    );
  });

  it('writes under a CHECK constraint of the newer bundle', async () => {
    const medium = await mediumUsedByBoth(
      buildSchema([{ ...note, checks: [{ name: null, sql: 'rank > 0' }] }]),
      rebuilt('`id` text PRIMARY KEY NOT NULL, `text` text, `rank` integer CHECK (rank > 0)'),
    );
    await using(
      medium,
      FIRST,
      (database) => {
        write(database, "INSERT INTO note (id, rank) VALUES ('b', 2)");
        expect(codeOf(() => write(database, "INSERT INTO note (id, rank) VALUES ('c', 0)"))).toBe('constraint-check');
      },
      [CREATE],
    );
  });

  const rankNotNull = [...note.columns.slice(0, 2), testColumn('rank', 'integer not null default 0')];
  const changes: readonly {
    readonly what: string;
    readonly second: Schema;
    readonly step: Migration;
    readonly insert: string;
    readonly fields: object;
  }[] = [
    {
      what: 'dropped a column',
      second: buildSchema([{ ...note, columns: note.columns.slice(0, 2) }]),
      step: migration('0001_drop', 'ALTER TABLE `note` DROP COLUMN `rank`'),
      insert: "INSERT INTO note (id) VALUES ('n')",
      fields: { table: 'note', column: 'rank', problem: 'the database no longer has this column' },
    },
    {
      what: 'renamed a table',
      second: buildSchema([testTable('memo', { id: 'text not null', text: 'text', rank: 'integer' })]),
      step: migration('0001_name', 'ALTER TABLE `note` RENAME TO `memo`'),
      insert: "INSERT INTO memo (id) VALUES ('n')",
      fields: { table: 'note', problem: 'the database no longer has this table' },
    },
    {
      what: 'changed the key',
      second: buildSchema([{ ...note, columns: rankNotNull, primaryKey: ['id', 'rank'] }]),
      step: rebuilt('`id` text NOT NULL, `text` text, `rank` integer NOT NULL DEFAULT 0, PRIMARY KEY (`id`, `rank`)'),
      insert: "INSERT INTO note (id) VALUES ('n')",
      fields: { table: 'note', problem: 'the primary key changed' },
    },
    {
      what: 'made a counter of a column',
      second: buildSchema([{ ...note, columns: rankNotNull, merge: { ...note.merge, counters: ['rank'] } }]),
      step: rebuilt('`id` text PRIMARY KEY NOT NULL, `text` text, `rank` integer NOT NULL DEFAULT 0'),
      insert: "INSERT INTO note (id) VALUES ('n')",
      fields: { table: 'note', column: 'rank', problem: 'the type, default or merge rule of the column changed' },
    },
    {
      what: 'merges a text as a document',
      second: buildSchema([
        {
          ...note,
          merge: {
            ...note.merge,
            documents: [{ column: 'text', text: [], elementKey: 'id', maxLength: 1000, maxDepth: 10 }],
          },
        },
      ]),
      step: rebuilt('`id` text PRIMARY KEY NOT NULL, `text` text, `rank` integer'),
      insert: "INSERT INTO note (id) VALUES ('n')",
      fields: { table: 'note', column: 'text', problem: 'the merge rule of the document changed' },
    },
    {
      what: 'needs a value that the older one never gives',
      second: buildSchema([withColumns(['kind', 'text not null'])]),
      step: rebuilt(
        '`id` text PRIMARY KEY NOT NULL, `text` text, `rank` integer, `kind` text NOT NULL',
        "'plain' AS `kind`",
      ),
      insert: "INSERT INTO note (id, kind) VALUES ('n', 'k')",
      fields: {
        table: 'note',
        column: 'kind',
        problem: 'a new row needs a value for this column, which the app does not know',
      },
    },
  ];
  it.each(changes)(
    'only reads if the newer bundle $what, reports why, and loses nothing',
    async ({ second, step, insert, fields }) => {
      const medium = await mediumUsedByBoth(second, step);
      const version = await using(
        medium,
        second,
        (database) => {
          write(database, insert);
          return schemaVersion(database);
        },
        [CREATE, step],
      );
      const table = second.tables[0]?.name ?? '';
      await using(
        medium,
        FIRST,
        (database) => {
          expect(database.readOnly).toMatchObject({ code: 'app-outdated', recovery: 'upgrade', fields });
          expect(codeOf(() => write(database, "INSERT INTO note (id) VALUES ('b')"))).toBe('app-outdated');
          expect(codeOf(() => database.begin({ atomic: false }))).toBe('app-outdated');
          expect(
            codeOf(() => database.write({ id: 'undo', statements: [], action: { kind: 'undo', requestId: 'w1' } })),
          ).toBe('app-outdated');
          // Sync continues, and can be paused and resumed.
          database.write({ id: `pause${++writes}`, statements: [], action: { kind: 'pause-sync' } });
          database.write({ id: `resume${++writes}`, statements: [], action: { kind: 'resume-sync' } });
          expect(database.query(`SELECT id FROM ${table}`, []).rowCount).toBe(2);
          expect(database.schema.hash).toBe(second.hash);
          expect(database.changelog.read(2)?.groups.map(({ kind }) => kind)).toEqual(['insert']);
        },
        [CREATE],
      );
      const reader = await openReader(medium, [CREATE]);
      expect(reader.rows(`SELECT count(*) FROM ${table}`)).toEqual([[2]]);
      await reader.close();
      await using(
        medium,
        second,
        (database) => expect([database.schema.hash, schemaVersion(database)]).toEqual([second.hash, version]),
        [CREATE, step],
      );
    },
  );

  it('only reads if the newer bundle dropped a unique index, which keeps equal values out of the table', async () => {
    const unique = { name: 'note_text', unique: true, expressions: ['"text"'], whereSql: null };
    const steps = [CREATE, migration('0001_unique', 'CREATE UNIQUE INDEX `note_text` ON `note` (`text`)')];
    const older = buildSchema([{ ...note, indexes: [unique] }]);
    const medium = memoryMedium();
    await using(medium, older, () => undefined, steps);
    await using(medium, FIRST, () => undefined, [...steps, migration('0002_equal', 'DROP INDEX `note_text`')]);
    const problem = 'the database no longer has the unique index note_text';
    await using(
      medium,
      older,
      (database) =>
        expect(database.readOnly).toMatchObject({ code: 'app-outdated', fields: { table: 'note', problem } }),
      steps,
    );
  });

  /** A second tab, with the older bundle. */
  async function openReader(
    medium: Medium,
    migrations: readonly Migration[],
  ): Promise<{ rows: OpenDatabase['connection']['rows']; close: StoredDatabase['close'] }> {
    const { database, close } = await openStored(medium, { schema: FIRST, migrations, role: 'reader' });
    return { rows: (sql) => database.connection.rows(sql), close };
  }
});
