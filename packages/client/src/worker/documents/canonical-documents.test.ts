import { buildSchema, decodeChangesetBody, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES } from '@rockpool/shared';
import { decodeDocumentCell } from '@rockpool/shared/document';
import { expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const schema = buildSchema([
  testTable(
    'page',
    { id: 'text not null', content: 'text', note: 'text' },
    { merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content' }] } },
  ),
]);

let requests = 0;

function write(database: OpenDatabase, ...statements: readonly string[]): void {
  database.write({ id: `r${++requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

/** The rows of the newest changeset, with documents as JSON. */
function lastSent(database: OpenDatabase): unknown[] {
  const { groups } = decodeChangesetBody(
    database.connection.value('SELECT body FROM rockpool_changelog ORDER BY sequence DESC LIMIT 1') as Uint8Array,
  );
  const shown = (value: unknown): unknown =>
    value instanceof Uint8Array ? (decodeDocumentCell(value) as { json: string }).json : value;
  return groups
    .flatMap(({ keys, values }) =>
      (keys[0] ?? []).map((key, row) => [key, ...values.map((column) => shown(column[row]))]),
    )
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

const rows = (database: OpenDatabase): unknown[] =>
  database.connection.rows('SELECT id, content, note FROM page ORDER BY id');

it('every document is stored and sent in its canonical form', () => {
  const database = openInMemory({ schema });
  write(
    database,
    `INSERT INTO page VALUES ('p', '{ "b": 1, "a": [2.0] }', 'x'), ('q', '{"a":1}', 'y'), ('r', NULL, 'z'), ('s', '{"10":1,"9":2}', NULL)`,
  );
  expect(rows(database)).toEqual([
    ['p', '{"a":[2],"b":1}', 'x'],
    ['q', '{"a":1}', 'y'],
    ['r', null, 'z'],
    ['s', '{"10":1,"9":2}', null],
  ]);
  expect(lastSent(database)).toEqual(rows(database));
  database.close();
});

it('writes of triggers that fire on the canonical rewrite are captured', () => {
  const database = openInMemory({ schema });
  write(
    database,
    `CREATE TRIGGER noted AFTER UPDATE OF content ON page BEGIN UPDATE page SET note = new.note || '!' WHERE id = new.id; END`,
  );
  write(database, `INSERT INTO page VALUES ('p', '{ "a": 1 }', 'x'), ('q', '{"a":1}', 'y')`);
  expect(rows(database)).toEqual([
    ['p', '{"a":1}', 'x!'],
    ['q', '{"a":1}', 'y'],
  ]);
  expect(lastSent(database)).toEqual(rows(database));
  database.close();
});

it('a transaction is rejected if its trigger prevents or replaces the canonical form', () => {
  const database = openInMemory({ schema });
  write(
    database,
    `CREATE TRIGGER kept BEFORE UPDATE OF content ON page BEGIN INSERT INTO page (id, note) VALUES (hex(randomblob(8)), 'instead'); SELECT RAISE(IGNORE); END`,
  );
  expect(() => write(database, `INSERT INTO page VALUES ('p', '{ "a": 1 }', 'x')`)).toThrow(
    expect.objectContaining({ code: 'document-invalid' }) as Error,
  );
  expect(rows(database)).toEqual([]);
  database.close();
});
