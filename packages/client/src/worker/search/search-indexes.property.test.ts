import { buildSchema, RockpoolError, type ChangeGroup } from '@rockpool/shared';
import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { admitted, testDelivery, testGroup, testSync } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { checkSearchIndexSql } from './search-index-sql.ts';

const tokenize = 'unicode61 remove_diacritics 2';
const list = testTable(
  'list',
  { id: 'text not null', name: 'text' },
  { uniques: [['name']], searchIndexes: [{ name: 'list_search', columns: ['name'], tokenize }] },
);
const item = testTable(
  'item',
  { id: 'text not null', list_id: 'text', title: 'text', note: 'text', done: 'integer' },
  {
    foreignKeys: [
      { columns: ['list_id'], foreignTable: 'list', foreignColumns: ['id'], onDelete: 'cascade', onUpdate: 'cascade' },
    ],
    searchIndexes: [
      { name: 'item_search', columns: ['title', 'note'], tokenize },
      { name: 'item_trigrams', columns: ['note'], tokenize: 'trigram case_sensitive 1' },
    ],
  },
);
// Indexes a generated column, and has a unique index on an expression, which can evict rows.
const tag = testTable(
  'tag',
  { id: 'text not null', a: 'text', b: 'text', both: "text as a||' '||b virtual" },
  {
    indexes: [{ name: 'tag_a', unique: true, expressions: ['lower("a")'], whereSql: null }],
    searchIndexes: [{ name: 'tag_search', columns: ['both'], tokenize }],
  },
);
// A table whose key is the rowid.
const draft = testTable(
  'draft',
  { id: 'integer', body: 'text' },
  { synced: false, searchIndexes: [{ name: 'draft_search', columns: ['body'], tokenize }] },
);
const tables = [list, item, tag, draft];
const schema = buildSchema(tables);

const ID = fc.constantFrom('a', 'b', 'c', 'd');
const NUMBER = fc.constantFrom('1', '2', '3');
const WORDS = fc
  .array(fc.constantFrom('heron', 'Heron', 'héron', 'paper', 'crane', 'x'), { maxLength: 3 })
  .map((words) => words.join(' '));
const TEXT = WORDS.map((words) => `'${words}'`);
const OR = fc.constantFrom('', 'OR REPLACE ', 'OR IGNORE ', 'OR FAIL ');

const STATEMENTS: Arbitrary<string> = fc.oneof(
  fc.tuple(OR, ID, TEXT).map(([or, id, name]) => `INSERT ${or}INTO list (id, name) VALUES ('${id}', ${name})`),
  fc.tuple(OR, ID, TEXT).map(([or, id, name]) => `UPDATE ${or}list SET name = ${name} WHERE id >= '${id}'`),
  fc.tuple(OR, ID, ID).map(([or, from, to]) => `UPDATE ${or}list SET id = '${to}' WHERE id = '${from}'`),
  fc
    .tuple(OR, ID, ID, TEXT, TEXT)
    .map(
      ([or, id, listId, title, note]) =>
        `INSERT ${or}INTO item (id, list_id, title, note) VALUES ('${id}', '${listId}', ${title}, ${note})`,
    ),
  fc
    .tuple(ID, TEXT)
    .map(
      ([id, title]) =>
        `INSERT INTO item (id, title) VALUES ('${id}', ${title}) ON CONFLICT (id) DO UPDATE SET title = excluded.title`,
    ),
  fc.tuple(ID, TEXT).map(([id, note]) => `UPDATE item SET note = ${note} WHERE id <= '${id}'`),
  ID.map((id) => `UPDATE item SET done = 1, note = note WHERE id = '${id}'`),
  fc.tuple(OR, ID, TEXT, TEXT).map(([or, id, a, b]) => `INSERT ${or}INTO tag (id, a, b) VALUES ('${id}', ${a}, ${b})`),
  fc.tuple(OR, ID, TEXT).map(([or, id, a]) => `UPDATE ${or}tag SET a = ${a} WHERE id <= '${id}'`),
  fc.tuple(OR, NUMBER, TEXT).map(([or, id, body]) => `INSERT ${or}INTO draft (id, body) VALUES (${id}, ${body})`),
  fc.tuple(OR, NUMBER, NUMBER).map(([or, from, to]) => `UPDATE ${or}draft SET id = ${to} WHERE id = ${from}`),
  fc.tuple(fc.constantFrom('list', 'item', 'tag'), ID).map(([table, id]) => `DELETE FROM ${table} WHERE id = '${id}'`),
  fc.constantFrom(
    'DELETE FROM item',
    'DELETE FROM draft',
    "DELETE FROM item WHERE rowid IN (SELECT rowid FROM item_search WHERE item_search MATCH 'heron')",
  ),
);

const GROUPS: Arbitrary<ChangeGroup> = fc.oneof(
  fc.tuple(ID, WORDS).map(([id, name]) => testGroup('insert', list, [{ id, name }])),
  fc.tuple(ID, WORDS).map(([id, name]) => testGroup('update', list, [{ id, name }])),
  fc.tuple(ID, WORDS, WORDS).map(([id, title, note]) => testGroup('insert', item, [{ id, title, note }])),
  fc.tuple(ID, WORDS).map(([id, note]) => testGroup('update', item, [{ id, note }])),
  fc.tuple(ID, WORDS, WORDS).map(([id, a, b]) => testGroup('insert', tag, [{ id, a, b }])),
  fc.tuple(fc.constantFrom(list, item, tag), ID).map(([table, id]) => testGroup('delete', table, [{ id }])),
);

type Step =
  | { readonly kind: 'write' | 'undo'; readonly statements: readonly string[] }
  | { readonly kind: 'open'; readonly statements: readonly string[]; readonly undone: readonly string[] }
  | {
      readonly kind: 'delivery';
      readonly groups: readonly ChangeGroup[];
      readonly whole: boolean;
      readonly decided: 'none' | 'admitted' | 'rejected';
    };

const SOME = fc.array(STATEMENTS, { minLength: 1, maxLength: 4 });
const STEPS: Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('write' as const, 'undo' as const), statements: SOME }),
  fc.record({ kind: fc.constant('open' as const), statements: SOME, undone: SOME }),
  fc.record({
    kind: fc.constant('delivery' as const),
    groups: fc.array(GROUPS, { maxLength: 3 }),
    whole: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    decided: fc.constantFrom('none', 'admitted', 'rejected'),
  }),
);

const FIRST_WITH_HERON =
  "SELECT count(*) FROM item WHERE rowid IN (SELECT rowid FROM item_search WHERE item_search MATCH 'heron')";
const SAME_BY_HAND =
  "SELECT count(*) FROM item WHERE replace(title || ' ' || coalesce(note, ''), 'é', 'e') LIKE '%heron%'";

/** Runs a write that may be rejected. A rejected write must change nothing, and the test checks that too. */
function unlessRejected(body: () => void): void {
  try {
    body();
  } catch (thrown) {
    if (
      !(thrown instanceof RockpoolError) ||
      thrown.code === 'internal' ||
      thrown.code.startsWith('storage-') ||
      thrown.code.startsWith('search-')
    )
      throw thrown;
  }
}

function requireWhole({ connection }: OpenDatabase): void {
  for (const { searchIndexes = [] } of tables)
    for (const index of searchIndexes) connection.run(checkSearchIndexSql(index));
  expect(connection.value(FIRST_WITH_HERON)).toBe(connection.value(SAME_BY_HAND));
}

it('a search index equals an index rebuilt from the rows after writes, deliveries, rebases, rejected changesets, full resyncs and undo', () => {
  fc.assert(
    fc.property(fc.array(STEPS, { maxLength: 15 }), (steps) => {
      const database = openInMemory({ schema });
      const sync = testSync(database);
      let cursor = 0;
      for (const [number, step] of steps.entries()) {
        unlessRejected(() => {
          if (step.kind === 'delivery') {
            const decidedBefore = database.outbox.lastAckedSequence();
            const last = step.decided === 'none' ? decidedBefore : database.changelog.head().sequence;
            const outcomes =
              step.decided === 'rejected'
                ? admitted(decidedBefore + 1, last).map(({ sequence }) => ({
                    kind: 'rejected' as const,
                    sequence,
                    code: 'constraint-check' as const,
                    fields: {},
                  }))
                : admitted(decidedBefore + 1, last);
            sync.applyDelivery(
              testDelivery({
                whole: step.whole,
                from: cursor,
                to: cursor + 1,
                lastAckedSequence: last,
                outcomes,
                groups: step.groups,
              }),
            );
            cursor++;
            return;
          }
          if (step.kind === 'open') return void runOpen(database, String(number), step.statements, step.undone);
          database.write({ id: String(number), statements: step.statements.map((sql) => ({ sql, params: [] })) });
          if (step.kind === 'undo')
            database.write({
              id: `undo ${number}`,
              statements: [],
              action: { kind: 'undo', requestId: String(number) },
            });
        });
        requireWhole(database);
      }
      database.close();
    }),
    { numRuns: atLevel({ test: 40, verify: 300 }) },
  );
});

/** Runs a transaction that checks the index between its statements and rolls `undone` back to a savepoint. */
function runOpen(database: OpenDatabase, id: string, statements: readonly string[], undone: readonly string[]): void {
  const transaction = database.begin({ atomic: false });
  const checkIndexes = (): void =>
    expect(decodeRows(transaction.query({ sql: FIRST_WITH_HERON, params: [] }))).toEqual(
      decodeRows(transaction.query({ sql: SAME_BY_HAND, params: [] })),
    );
  try {
    for (const sql of statements) transaction.execute({ sql, params: [] });
    transaction.savepoint(1);
    unlessRejected(() => {
      for (const sql of undone) transaction.execute({ sql, params: [] });
      checkIndexes();
    });
    transaction.undo(1);
    checkIndexes();
    transaction.commit(id);
  } finally {
    transaction.rollback();
  }
}
