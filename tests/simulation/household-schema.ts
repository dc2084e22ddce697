import {
  buildSchema,
  columnIdOf,
  decodeSchema,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  DEFAULT_TOKENIZE,
  encodeSchema,
  tableIdOf,
  type DocumentRule,
  type ForeignKeyAction,
  type Schema,
} from '#shared/index.ts';
import { sampleColumn, sampleTable } from '#shared/testing/sample-schema.ts';

const id = sampleColumn('id', 'text', { notNull: true });

/**
 * The rule of the documents: two texts merged by character, one of them with formats, and elements identified by `id`.
 */
export const PAGE_RULE: DocumentRule = { ...DEFAULT_DOCUMENT_RULE, text: ['body', 'items.*.note'], richText: ['note'] };

/** The delete actions of a foreign key. */
export const ROOM_RULES: readonly ForeignKeyAction[] = ['cascade', 'set null', 'set default', 'restrict', 'no action'];

/** The child table for a delete action. */
export function roomChild(onDelete: ForeignKeyAction): string {
  return `in_room_${onDelete.replace(' ', '_')}`;
}

/** The default parent for `set default`. */
export const LOBBY = { house: 'lobby', number: 0 } as const;

/**
 * Everything that can complicate a merge, and tables whose rows show by themselves whether a fault has occurred
 * (checks.ts).
 */
export const householdSchema: Schema = buildSchema([
  sampleTable(
    'account',
    [
      id,
      sampleColumn('name', 'text', { notNull: true }),
      sampleColumn('note', 'text'),
      sampleColumn('rate', 'real'),
      sampleColumn('picture', 'blob'),
    ],
    {
      uniques: [['name']],
    },
  ),
  // Children that are deleted with their account, with a generated column and a full-text index over the notes.
  sampleTable(
    'entry',
    [
      id,
      sampleColumn('account_id', 'text', { notNull: true }),
      sampleColumn('amount', 'integer', { notNull: true, defaultSql: '0' }),
      sampleColumn('note', 'text'),
      sampleColumn('weight', 'integer', { generated: { sql: '"amount" * 2', mode: 'virtual' } }),
    ],
    {
      foreignKeys: [
        {
          columns: ['account_id'],
          foreignTable: 'account',
          foreignColumns: ['id'],
          onDelete: 'cascade',
          onUpdate: 'no action',
        },
      ],
      checks: [{ name: 'bounded', sql: '"amount" < 1000' }],
      indexes: [{ name: 'entry_by_account', unique: false, expressions: ['"account_id"'], whereSql: null }],
      searchIndexes: [{ name: 'entry_text', columns: ['note'], tokenize: DEFAULT_TOKENIZE }],
    },
  ),
  // Children that prevent the delete of their account.
  sampleTable('label', [id, sampleColumn('account_id', 'text', { notNull: true }), sampleColumn('content', 'text')], {
    foreignKeys: [
      {
        columns: ['account_id'],
        foreignTable: 'account',
        foreignColumns: ['id'],
        onDelete: 'no action',
        onUpdate: 'no action',
      },
    ],
  }),
  // A key that two devices may both choose, and a column group in which `width` is the difference of the other columns.
  sampleTable(
    'goal',
    [
      sampleColumn('month', 'text', { notNull: true }),
      sampleColumn('slot', 'integer', { notNull: true }),
      sampleColumn('low', 'integer', { notNull: true }),
      sampleColumn('high', 'integer', { notNull: true }),
      sampleColumn('width', 'integer', { notNull: true }),
      sampleColumn('note', 'text'),
    ],
    { primaryKey: ['month', 'slot'], merge: { ...DEFAULT_MERGE_RULES, groups: [['low', 'high', 'width']] } },
  ),
  sampleTable('plan', [id, sampleColumn('title', 'text'), sampleColumn('detail', 'text')], {
    merge: { ...DEFAULT_MERGE_RULES, deleteRule: 'update-wins' },
  }),
  // A row that a concurrent change restores, with a column group.
  sampleTable(
    'trip',
    [
      id,
      sampleColumn('first_day', 'integer', { notNull: true }),
      sampleColumn('last_day', 'integer', { notNull: true }),
      sampleColumn('days', 'integer', { notNull: true }),
      sampleColumn('title', 'text'),
    ],
    { merge: { ...DEFAULT_MERGE_RULES, deleteRule: 'update-wins', groups: [['first_day', 'last_day', 'days']] } },
  ),
  // A document, which many edit at the same time (page-writes.ts).
  sampleTable('page', [id, sampleColumn('content', 'text')], {
    merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...PAGE_RULE, column: 'content' }] },
  }),
  // Two rows that always carry the same token.
  sampleTable(
    'half',
    [
      sampleColumn('pair', 'integer', { notNull: true }),
      sampleColumn('side', 'text', { notNull: true }),
      sampleColumn('token', 'text'),
    ],
    {
      primaryKey: ['pair', 'side'],
    },
  ),
  // One row for each transaction, which a trigger of the app adds to a counter: a reader sees both or neither.
  sampleTable('mark', [
    id,
    sampleColumn('author', 'text', { notNull: true }),
    sampleColumn('tally_id', 'text', { notNull: true }),
    sampleColumn('delta', 'integer', { notNull: true }),
  ]),
  sampleTable('tally', [id, sampleColumn('hits', 'integer', { notNull: true, defaultSql: '0' })], {
    merge: { ...DEFAULT_MERGE_RULES, counters: ['hits'] },
  }),
  // A parent with a key of two columns, and a child table for each delete action. A child in which either column is
  // NULL has no parent.
  sampleTable(
    'room',
    [
      sampleColumn('house', 'text', { notNull: true }),
      sampleColumn('number', 'integer', { notNull: true }),
      sampleColumn('note', 'text'),
    ],
    { primaryKey: ['house', 'number'] },
  ),
  ...ROOM_RULES.map((onDelete) =>
    sampleTable(
      roomChild(onDelete),
      [
        id,
        sampleColumn('house', 'text', { defaultSql: onDelete === 'set default' ? `'${LOBBY.house}'` : null }),
        sampleColumn('number', 'integer', { defaultSql: onDelete === 'set default' ? String(LOBBY.number) : null }),
        sampleColumn('note', 'text'),
      ],
      {
        foreignKeys: [
          {
            columns: ['house', 'number'],
            foreignTable: 'room',
            foreignColumns: ['house', 'number'],
            onDelete,
            onUpdate: 'no action',
          },
        ],
      },
    ),
  ),
  // A parent that cannot be deleted while a child references it, and its children.
  sampleTable('project', [id, sampleColumn('title', 'text')], {
    merge: { ...DEFAULT_MERGE_RULES, deleteRule: 'update-wins' },
  }),
  sampleTable('task', [id, sampleColumn('project_id', 'text'), sampleColumn('note', 'text')], {
    foreignKeys: [
      {
        columns: ['project_id'],
        foreignTable: 'project',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
    merge: { ...DEFAULT_MERGE_RULES, foreignKeyRules: [{ columns: ['project_id'], rule: 'restore-parent' }] },
  }),
  // A table with only a key.
  sampleTable(
    'tag',
    [sampleColumn('house', 'text', { notNull: true }), sampleColumn('word', 'text', { notNull: true })],
    { primaryKey: ['house', 'word'] },
  ),
  sampleTable('draft', [sampleColumn('id', 'integer', { notNull: true }), sampleColumn('content', 'text')], {
    synced: false,
  }),
]);

/** Tables that the older version of the app does not know. */
const NEWER_TABLES: ReadonlySet<string> = new Set(['task', 'tag']);
const NEWER_COLUMNS: ReadonlyMap<string, string> = new Map([
  ['plan', 'detail'],
  ['trip', 'title'],
]);

/** By table id. */
export const NEWER_COLUMN_IDS: ReadonlyMap<number, readonly number[]> = new Map(
  [...NEWER_COLUMNS].map(([table, column]) => [tableIdOf(table), [columnIdOf(column)]]),
);

/** The schema of the app's older version: fewer columns, and no table that refers to projects. */
export const olderSchema: Schema = buildSchema(
  householdSchema.tables
    .filter(({ name }) => !NEWER_TABLES.has(name))
    .map((table) => ({
      ...table,
      columns: table.columns.filter(({ name }) => name !== NEWER_COLUMNS.get(table.name)),
    })),
);

/** The version of the app on a device. */
export type AppVersion = 'older' | 'newer';

/** The schema in the form that workers receive from the page. */
const asSent = (schema: Schema): Schema => decodeSchema(encodeSchema(schema));

export const APP_SCHEMAS: Readonly<Record<AppVersion, Schema>> = {
  older: asSent(olderSchema),
  newer: asSent(householdSchema),
};

/** The counters. The first device creates them before anything else happens. */
export const TALLIES: readonly string[] = ['even', 'odd'];

/** The app's own addition: a trigger that counts. */
export const APP_SQL =
  'CREATE TRIGGER IF NOT EXISTS mark_counted AFTER INSERT ON mark BEGIN UPDATE tally SET hits = hits + new.delta WHERE id = new.tally_id; END';
