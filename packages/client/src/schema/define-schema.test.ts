import { decodeSchema, encodeSchema, RockpoolError, type Schema, type TableSchema } from '@rockpool/shared';
import { sql } from 'drizzle-orm';
import {
  alias,
  blob,
  check,
  customType,
  foreignKey,
  index,
  integer,
  numeric,
  primaryKey,
  QueryBuilder,
  real,
  sqliteTable,
  sqliteView,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import { defineSchema, type DefineSchemaOptions } from './define-schema.ts';
import { matches, searchIndex } from './search-index.ts';

const account = sqliteTable('account', {
  id: text().primaryKey(),
  name: text({ length: 40 }).notNull().default("Alice's"),
  openedAt: integer('opened_at', { mode: 'timestamp_ms' }).notNull().default(new Date(5)),
  active: integer({ mode: 'boolean' }).notNull().default(true),
  rate: real().default(0.5),
  limit: integer().default(-3),
  settings: text({ mode: 'json' }).default({ a: [1] }),
  big: blob({ mode: 'bigint' }),
  made: text().default(sql`(CURRENT_TIMESTAMP)`),
});

const entry = sqliteTable(
  'entry',
  {
    accountId: text('account_id').notNull(),
    number: integer().notNull(),
    amountMinor: integer('amount_minor').notNull(),
    memo: text(),
    memoLength: integer('memo_length').generatedAlwaysAs((): ReturnType<typeof sql> => sql`length(${entry.memo})`, {
      mode: 'stored',
    }),
    code: text().unique(),
    share: numeric(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.number] }),
    foreignKey({ columns: [table.accountId], foreignColumns: [account.id] })
      .onDelete('cascade')
      .onUpdate('restrict'),
    check('amount_small', sql`${table.amountMinor} < ${1000} AND ${table.memo} <> ${"it's"}`),
    unique().on(table.memo, table.code),
    index('entry_memo').on(table.memo, sql`lower(${table.code})`),
    uniqueIndex('entry_share')
      .on(table.share)
      .where(sql`${table.share} IS NOT NULL`),
  ],
);

function tableOf(schema: Schema, name: string): TableSchema {
  const table = schema.tables.find((candidate) => candidate.name === name);
  if (table === undefined) throw new Error(`no table ${name}`);
  return table;
}

function problemsOf(declare: () => unknown): string[] {
  try {
    declare();
  } catch (error) {
    expect(error).toBeInstanceOf(RockpoolError);
    expect((error as RockpoolError).code).toBe('schema-invalid');
    return String((error as RockpoolError).fields['problems']).split('\n');
  }
  throw new Error('the schema was accepted');
}

describe('defineSchema', () => {
  it('reads columns with type, nullability and default', () => {
    const { columns } = tableOf(defineSchema([account]), 'account');
    const facts = columns.map(({ name, type, notNull, defaultSql }) => [name, type, notNull, defaultSql]);
    expect(facts).toEqual([
      ['id', 'text', true, null],
      ['name', 'text', true, "'Alice''s'"],
      ['opened_at', 'integer', true, '5'],
      ['active', 'integer', true, '1'],
      ['rate', 'real', false, '0.5'],
      ['limit', 'integer', false, '-3'],
      ['settings', 'text', false, `'{"a":[1]}'`],
      ['big', 'blob', false, null],
      ['made', 'text', false, '(CURRENT_TIMESTAMP)'],
    ]);
  });

  it('reads composite keys, foreign keys with actions, checks, uniques, indexes and generated columns', () => {
    const table = tableOf(defineSchema({ account, entry }), 'entry');
    expect(table.primaryKey).toEqual(['account_id', 'number']);
    expect(table.foreignKeys).toEqual([
      {
        columns: ['account_id'],
        foreignTable: 'account',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'restrict',
      },
    ]);
    expect(table.checks).toEqual([{ name: 'amount_small', sql: `"amount_minor" < 1000 AND "memo" <> 'it''s'` }]);
    expect(table.uniques).toEqual([['code'], ['memo', 'code']]);
    expect(table.indexes).toEqual([
      { name: 'entry_memo', unique: false, expressions: ['"memo"', 'lower("code")'], whereSql: null },
      { name: 'entry_share', unique: true, expressions: ['"share"'], whereSql: '"share" IS NOT NULL' },
    ]);
    expect(table.columns.find(({ name }) => name === 'memo_length')?.generated).toEqual({
      sql: 'length("memo")',
      mode: 'stored',
    });
  });

  it('ignores values that are not tables, and reads a module object like a list', () => {
    expect(defineSchema({ account, somethingElse: () => 1, text: 'x' })).toEqual(defineSchema([account]));
  });

  it('marks local tables as not synced, and lets them have a key that SQLite numbers, or no key', () => {
    const draft = sqliteTable('draft', { id: integer().primaryKey(), body: text() });
    const log = sqliteTable('log', { line: text() });
    const schema = defineSchema([account, draft, log], { local: [draft, log] });
    expect(schema.tables.map(({ name, synced }) => [name, synced])).toEqual([
      ['account', true],
      ['draft', false],
      ['log', false],
    ]);
    expect(schema.hash).toBe(defineSchema([account]).hash);
  });

  it('reads merge rules, and applies the default to tables without any', () => {
    const page = sqliteTable('page', {
      id: text().primaryKey(),
      hits: integer().notNull(),
      minor: integer().notNull(),
      currency: text().notNull(),
    });
    const schema = defineSchema([account, page], {
      merge: [
        {
          table: page,
          deleteRule: 'update-wins',
          counters: [page.hits],
          groups: [[page.minor, page.currency]],
          documents: [],
        },
      ],
    });
    expect(tableOf(schema, 'page').merge).toEqual({
      deleteRule: 'update-wins',
      counters: ['hits'],
      groups: [['minor', 'currency']],
      documents: [],
    });
    expect(tableOf(schema, 'account').merge).toEqual({
      deleteRule: 'delete-wins',
      counters: [],
      groups: [],
      documents: [],
    });
  });

  it('reads a renaming unique rule, with the default or a declared suffix', () => {
    const label = sqliteTable('label', { id: text().primaryKey(), name: text().notNull().unique() });
    const ruleOf = (suffix?: string): unknown =>
      tableOf(
        defineSchema([label], {
          merge: [{ table: label, uniqueRule: { rename: label.name, ...(suffix === undefined ? {} : { suffix }) } }],
        }),
        'label',
      ).merge.uniqueRule;
    expect(ruleOf()).toEqual({ rename: 'name', suffix: ' ({n})' });
    expect(ruleOf(' #{n}')).toEqual({ rename: 'name', suffix: ' #{n}' });
  });

  it('reads rules of foreign keys by their columns', () => {
    const plan = sqliteTable('plan', { id: text().primaryKey() });
    const step = sqliteTable('step', { id: text().primaryKey(), planId: text('plan_id').references(() => plan.id) });
    const schema = defineSchema([plan, step], {
      merge: [
        { table: plan, deleteRule: 'update-wins' },
        { table: step, foreignKeyRules: [{ columns: [step.planId], rule: 'restore-parent' }] },
      ],
    });
    expect(tableOf(schema, 'step').merge.foreignKeyRules).toEqual([{ columns: ['plan_id'], rule: 'restore-parent' }]);
    expect(tableOf(schema, 'plan').merge.foreignKeyRules).toBeUndefined();
  });

  it('rejects invalid merge rules', () => {
    const problems = problemsOf(() =>
      defineSchema([account], {
        merge: [{ table: account, groups: [[entry.memo, account.name]] }, { table: account }, { table: entry }],
      }),
    );
    expect(problems.filter((line) => line.startsWith('account.memo: '))).not.toEqual([]);
    expect(problems.filter((line) => line.startsWith('account: '))).not.toEqual([]);
    expect(problems.filter((line) => line.startsWith('entry: '))).not.toEqual([]);
  });

  it('reads search indexes, with a declared or default name and tokenizer', () => {
    const entrySearch = searchIndex(entry, { columns: [entry.memo, entry.code] });
    const memoParts = searchIndex(entry, { columns: [entry.memo], name: 'memo_parts', tokenize: 'trigram' });
    const schema = defineSchema({ account, entry, entrySearch, memoParts });
    expect(tableOf(schema, 'entry').searchIndexes).toEqual([
      { name: 'entry_search', columns: ['memo', 'code'], tokenize: 'unicode61 remove_diacritics 2' },
      { name: 'memo_parts', columns: ['memo'], tokenize: 'trigram' },
    ]);
    expect(tableOf(schema, 'account')).not.toHaveProperty('searchIndexes');
    expect(schema.hash).toBe(defineSchema({ account, entry }).hash);
    expect(decodeSchema(encodeSchema(schema))).toEqual(schema);
  });

  it('declares histories, which are in the schema file but not in the schema hash', () => {
    const note = sqliteTable('note', { id: text().primaryKey() });
    const place = sqliteTable('place', { id: text().primaryKey() });
    const schema = defineSchema({ account, note, place }, { history: [note, { table: place, retainedDays: 90 }] });
    expect(schema.tables.map(({ history }) => history)).toEqual([
      undefined,
      { retainedDays: null },
      { retainedDays: 90 },
    ]);
    expect(decodeSchema(encodeSchema(schema))).toEqual(schema);
    expect(schema.hash).toBe(defineSchema({ account, note, place }).hash);
  });

  it('rejects histories of local or undeclared tables, a second history for a table, and a retention in fractions of a day', () => {
    const note = sqliteTable('note', { id: text().primaryKey() });
    const declare = (history: DefineSchemaOptions['history'], local: readonly (typeof note)[] = []): string => {
      try {
        defineSchema({ note }, { local, ...(history && { history }) });
      } catch (error) {
        return String((error as RockpoolError).fields['problems']);
      }
      return '';
    };
    expect(declare([note], [note])).toContain('A local table cannot have a history');
    expect(declare([{ table: note, retainedDays: 0.5 }])).toContain('retainedDays');
    expect(declare([note, note])).toContain('The history of the table is declared twice; remove one declaration.');
    expect(declare([account])).toContain('not among the tables');
  });

  it('rejects invalid search indexes with all their problems at once', () => {
    const odd = sqliteTable('odd', { id: text().primaryKey(), rowid: text(), rank: text(), size: integer() });
    const taken = sqliteTable('entry_words_data', { id: text().primaryKey() });
    const indexes = [
      searchIndex(account, { columns: [account.name, account.rate, entry.memo, account.name] }),
      searchIndex(account, { columns: [account.name] }),
      searchIndex(entry, { columns: [], name: 'rockpool_mine', tokenize: 'german' }),
      searchIndex(entry, { columns: [entry.memo], name: 'entry_words' }),
      searchIndex(odd, { columns: [odd.rank, odd.size] }),
    ];
    const places = (declare: () => unknown): string[] =>
      problemsOf(declare)
        .map((line) => line.split(': ')[0] as string)
        .sort();
    expect(places(() => defineSchema([account, entry, taken, ...indexes]))).toEqual([
      'account', // two indexes of one name
      'account',
      'account.memo', // belongs to another table, and this table has no such column
      'account.memo',
      'account.name', // twice
      'account.rate', // a column that is not TEXT
      'entry', // reserved, no columns, unknown tokenizer; a name that is taken
      'entry',
      'entry',
      'entry',
      'odd', // not among the tables
    ]);
    expect(places(() => defineSchema([odd, searchIndex(odd, { columns: [odd.rank, odd.size] })]))).toEqual([
      'odd',
      'odd.rank',
      'odd.size',
    ]);
  });

  it('finds text by a search index, whatever the user typed', () => {
    const entrySearch = searchIndex(entry, { columns: [entry.memo] });
    const query = new QueryBuilder()
      .select({ number: entry.number })
      .from(entry)
      .where(matches(entrySearch, 'tea "pot'))
      .toSQL();
    expect(query.sql).toContain(
      'where "entry".rowid IN (SELECT rowid FROM "entry_search" WHERE "entry_search" MATCH ?)',
    );
    expect(query.params).toEqual(['"tea"* """pot"*']);
    const other = alias(entry, 'other');
    expect(
      new QueryBuilder()
        .select({ number: other.number })
        .from(other)
        .where(matches(entrySearch, 'tea', other))
        .toSQL().sql,
    ).toContain('where "other".rowid IN');
    expect(() => matches(entrySearch, 'tea', account)).toThrow(
      expect.objectContaining({ code: 'query-invalid' }) as Error,
    );
  });

  it('derives the affinity of custom types as SQLite does', () => {
    const custom = (declared: string) => customType<{ data: string }>({ dataType: () => declared })();
    const odd = sqliteTable('odd', {
      id: text().primaryKey(),
      a: custom('bigint'),
      b: custom('varchar(3)'),
      c: custom('double'),
      d: custom('date'),
      e: custom(''),
    });
    expect(tableOf(defineSchema([odd]), 'odd').columns.map(({ type }) => type)).toEqual([
      'text',
      'integer',
      'text',
      'real',
      'numeric',
      'blob',
    ]);
  });

  it('rejects a schema with all its problems at once', () => {
    const keyless = sqliteTable('keyless', { a: text() });
    const counted = sqliteTable('counted', { id: integer().primaryKey({ autoIncrement: true }) });
    const nullable = sqliteTable('nullable', { a: text(), b: text().notNull() }, (table) => [
      primaryKey({ columns: [table.a, table.b] }),
    ]);
    const reserved = sqliteTable('rockpool_mine', { id: text().primaryKey() });
    const twoKeys = sqliteTable('two_keys', { a: text().primaryKey(), b: text().primaryKey() });
    const oddDefault = sqliteTable('odd_default', { id: text().primaryKey(), at: real().default(Number.NaN) });
    const elsewhere = sqliteTable('elsewhere', { id: text().primaryKey() });
    const view = sqliteView('a_view').as((query) => query.select().from(keyless));

    const problems = problemsOf(() =>
      defineSchema({ keyless, counted, nullable, reserved, twoKeys, oddDefault, view }, { local: [elsewhere] }),
    );

    const about = (start: string): string[] => problems.filter((line) => line.startsWith(start));
    expect(about('keyless: ')).toHaveLength(1);
    expect(about('counted.id: ')).toHaveLength(2);
    expect(about('counted.id: ').every((line) => line.includes('newId()'))).toBe(true);
    expect(about('nullable.a: ')).toHaveLength(1);
    expect(about('rockpool_mine: ')).toHaveLength(1);
    expect(about('two_keys: ')).toHaveLength(1);
    expect(about('odd_default.at: ')).toHaveLength(1);
    expect(about('elsewhere: ')).toHaveLength(1);
    expect(about('views: ')).toHaveLength(1);
    expect(problems).toHaveLength(9);
  });

  it('rejects an empty declaration', () => {
    expect(problemsOf(() => defineSchema({}))).toHaveLength(1);
  });

  it('survives a round trip through the schema file', () => {
    const schema = defineSchema({ account, entry });
    expect(decodeSchema(encodeSchema(schema))).toEqual(schema);
  });
});
