import {
  buildSchema,
  columnIdOf,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  DEFAULT_TOKENIZE,
  tableIdOf,
  type ColumnSchema,
  type ColumnType,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';

export function column(name: string, type: ColumnType, options: Partial<ColumnSchema> = {}): ColumnSchema {
  return { id: columnIdOf(name), name, type, notNull: false, defaultSql: null, generated: null, ...options };
}

export function table(name: string, columns: readonly ColumnSchema[], options: Partial<TableSchema> = {}): TableSchema {
  return {
    id: tableIdOf(name),
    name,
    columns,
    primaryKey: ['id'],
    uniques: [],
    foreignKeys: [],
    checks: [],
    indexes: [],
    merge: DEFAULT_MERGE_RULES,
    synced: true,
    ...options,
  };
}

const id: ColumnSchema = column('id', 'text', { notNull: true });

export const ACCOUNTS: TableSchema = table(
  'accounts',
  [id, column('name', 'text', { notNull: true }), column('rank', 'integer')],
  {
    uniques: [['name']],
    // A table that only devices have; the server ignores it.
    searchIndexes: [{ name: 'accounts_search', columns: ['name'], tokenize: DEFAULT_TOKENIZE }],
  },
);

export const ENTRIES: TableSchema = table(
  'entries',
  [
    id,
    column('account_id', 'text'),
    column('amount', 'integer', { notNull: true, defaultSql: '0' }),
    column('note', 'text'),
    column('weight', 'real'),
    column('receipt', 'blob'),
  ],
  {
    foreignKeys: [
      {
        columns: ['account_id'],
        foreignTable: 'accounts',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
    checks: [{ name: 'amount_bounded', sql: 'amount < 1000000' }],
    indexes: [{ name: 'entries_by_note', unique: false, expressions: ['note'], whereSql: null }],
  },
);

/** A composite key of two types and no other column. */
export const LABELS: TableSchema = table(
  'labels',
  [column('entry_id', 'text', { notNull: true }), column('position', 'integer', { notNull: true })],
  {
    primaryKey: ['entry_id', 'position'],
  },
);

/** A counter, and two columns that form a group. */
export const PRODUCTS: TableSchema = table(
  'products',
  [
    id,
    column('stock', 'integer', { notNull: true }),
    column('price', 'integer'),
    column('currency', 'text'),
    column('name', 'text'),
  ],
  { merge: { deleteRule: 'delete-wins', counters: ['stock'], groups: [['price', 'currency']], documents: [] } },
);

/** Rows that an update revives. */
export const NOTES: TableSchema = table(
  'notes',
  [id, column('title', 'text'), column('reads', 'integer', { notNull: true })],
  {
    merge: { deleteRule: 'update-wins', counters: ['reads'], groups: [], documents: [] },
  },
);

/** A second level below accounts. */
export const SPLITS: TableSchema = table(
  'splits',
  [id, column('entry_id', 'text', { notNull: true }), column('share', 'integer')],
  {
    foreignKeys: [
      {
        columns: ['entry_id'],
        foreignTable: 'entries',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
  },
);

/** Children of rows that an update revives. */
export const COMMENTS: TableSchema = table(
  'comments',
  [id, column('note_id', 'text', { notNull: true }), column('body', 'text')],
  {
    foreignKeys: [
      {
        columns: ['note_id'],
        foreignTable: 'notes',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
  },
);

/** Refers to its parent by a unique column that is not the key. */
export const CARDS: TableSchema = table('cards', [id, column('account_name', 'text'), column('digits', 'text')], {
  uniques: [['digits']],
  foreignKeys: [
    {
      columns: ['account_name'],
      foreignTable: 'accounts',
      foreignColumns: ['name'],
      onDelete: 'cascade',
      onUpdate: 'no action',
    },
  ],
});

/** A child of two parents. */
export const TRANSFERS: TableSchema = table('transfers', [id, column('from_id', 'text'), column('to_id', 'text')], {
  foreignKeys: ['from_id', 'to_id'].map((name) => ({
    columns: [name],
    foreignTable: 'accounts',
    foreignColumns: ['id'],
    onDelete: 'cascade',
    onUpdate: 'no action',
  })),
});

/** A child with a key and no other column. */
export const STICKERS: TableSchema = table(
  'stickers',
  [column('account_id', 'text', { notNull: true }), column('tag', 'text', { notNull: true })],
  {
    primaryKey: ['account_id', 'tag'],
    foreignKeys: [
      {
        columns: ['account_id'],
        foreignTable: 'accounts',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
  },
);

/** A child that prevents the deletion of its parent. */
export const LIMITS: TableSchema = table('limits', [id, column('account_id', 'text')], {
  foreignKeys: [
    {
      columns: ['account_id'],
      foreignTable: 'accounts',
      foreignColumns: ['id'],
      onDelete: 'no action',
      onUpdate: 'no action',
    },
  ],
});

/** Keeps its row without the reference when a parent is deleted. One of the parents is revived by an update. */
export const MEMOS: TableSchema = table(
  'memos',
  [id, column('account_id', 'text'), column('note_id', 'text'), column('slot', 'integer'), column('body', 'text')],
  {
    uniques: [['account_id', 'slot']],
    checks: [{ name: 'kept', sql: "account_id IS NOT NULL OR body IS NOT 'bound'" }],
    foreignKeys: [['account_id', 'accounts'] as const, ['note_id', 'notes'] as const].map(([name, foreignTable]) => ({
      columns: [name],
      foreignTable,
      foreignColumns: ['id'],
      onDelete: 'set null',
      onUpdate: 'no action',
    })),
  },
);

/** A reply prevents the deletion of its note and of the row that it replies to. */
export const REPLIES: TableSchema = table(
  'replies',
  [id, column('note_id', 'text'), column('reply_to', 'text'), column('body', 'text')],
  {
    foreignKeys: [['note_id', 'notes', 'cascade'] as const, ['reply_to', 'replies', 'no action'] as const].map(
      ([name, foreignTable, onDelete]) => ({
        columns: [name],
        foreignTable,
        foreignColumns: ['id'],
        onDelete,
        onUpdate: 'no action',
      }),
    ),
    merge: {
      ...DEFAULT_MERGE_RULES,
      deleteRule: 'update-wins',
      foreignKeyRules: ['note_id', 'reply_to'].map((name) => ({ columns: [name], rule: 'restore-parent' })),
    },
  },
);

/** A sticky prevents a concurrent delete of its note. A delete of the sticky itself wins over concurrent writes. */
export const STICKIES: TableSchema = table('stickies', [id, column('note_id', 'text'), column('body', 'text')], {
  foreignKeys: [
    {
      columns: ['note_id'],
      foreignTable: 'notes',
      foreignColumns: ['id'],
      onDelete: 'cascade',
      onUpdate: 'no action',
    },
  ],
  merge: { ...DEFAULT_MERGE_RULES, foreignKeyRules: [{ columns: ['note_id'], rule: 'restore-parent' }] },
});

/** A document. */
export const PAGES: TableSchema = table('pages', [id, column('title', 'text'), column('content', 'text')], {
  merge: {
    ...DEFAULT_MERGE_RULES,
    documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content', text: ['body'], richText: ['note'] }],
  },
});

export const TEST_TABLES: readonly TableSchema[] = [
  ACCOUNTS,
  CARDS,
  COMMENTS,
  ENTRIES,
  LABELS,
  LIMITS,
  MEMOS,
  NOTES,
  PAGES,
  PRODUCTS,
  REPLIES,
  SPLITS,
  STICKERS,
  STICKIES,
  TRANSFERS,
];

export const TEST_SCHEMA: Schema = buildSchema([...TEST_TABLES]);
