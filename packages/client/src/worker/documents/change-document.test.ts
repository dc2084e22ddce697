import { buildSchema, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { toStatementResult } from '../../rpc/statement-result.ts';
import type { WriteOutcome } from '../../rpc/write-request.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const schema = buildSchema([
  testTable(
    'page',
    { id: 'text not null', content: 'text' },
    { merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content', text: ['body'] }] } },
  ),
  testTable('recent', { id: 'integer', page: 'text' }, { synced: false }),
]);
const BODY = 'The tide comes in. '.repeat(1_000);

let database: OpenDatabase;
beforeEach(() => {
  database = openInMemory({ schema });
  database.write({
    id: 'i',
    statements: [
      { sql: `INSERT INTO page (id, content) VALUES ('p', ?)`, params: [JSON.stringify({ body: BODY, n: 0 })] },
    ],
  });
});
afterEach(() => database.close());

/** Sets the member `n`, as an open document on the page does. */
function setN(id: string, from: number, to: number): WriteOutcome {
  const changeJson = JSON.stringify({ members: { n: { set: [from, to] } } });
  return database.write({
    id,
    statements: [],
    action: { kind: 'change-document', table: 'page', key: ['p'], column: 'content', changeJson },
  });
}

const textsOf = ({ results }: WriteOutcome): string[] =>
  results.flatMap((result) => toStatementResult<{ text: string }>(result).rows.map(({ text }) => text));
const contentWith = (n: number): string => JSON.stringify({ body: BODY, n });

it('a change of a document does not store the document with its request', () => {
  expect(textsOf(setN('a', 0, 1))).toEqual([contentWith(1)]);
  const recorded = database.connection.value(
    `SELECT length(tables_json) + ifnull(length(results_json), 0) FROM rockpool_request WHERE id = 'a'`,
  );
  expect(recorded).toBeLessThan(100);
});

it('a change of a document names the local tables that its triggers write', () => {
  const sql = 'CREATE TRIGGER edited AFTER UPDATE ON page BEGIN INSERT INTO recent (page) VALUES (new.id); END';
  database.write({ id: 'trigger', statements: [{ sql, params: [] }] });
  expect(setN('a', 0, 1).touchedTables.toSorted()).toEqual(['page', 'recent']);
});

it('a repeated change of a document runs once, and returns the current document', () => {
  setN('a', 0, 1);
  setN('b', 1, 2);
  const again = setN('a', 0, 1);
  expect(again).toMatchObject({ repeated: true, sequence: 2 });
  expect(textsOf(again)).toEqual([contentWith(2)]);
});

it.each([`DELETE FROM page`, `UPDATE page SET content = NULL`])(
  'a repeated change of a document returns no row if the document was deleted since (%s)',
  (sql) => {
    setN('a', 0, 1);
    database.write({ id: 'gone', statements: [{ sql, params: [] }] });
    expect(textsOf(setN('a', 0, 1))).toEqual([]);
  },
);
