import { buildSchema, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES } from '@rockpool/shared';
import { decodeDocumentCell, documentText, encodeDocumentCell, mergeDelivered } from '@rockpool/shared/document';
import { expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const schema = buildSchema([
  testTable(
    'page',
    { id: 'text not null', content: 'text' },
    { merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content', text: ['body'] }] } },
  ),
]);

const TEXT = JSON.stringify({
  body: 'The tide comes in. '.repeat(1_000),
  items: Array.from({ length: 200 }, (_, id) => ({ id, note: `note ${id}` })),
});

let requests = 0;

function write(database: OpenDatabase, sql: string, ...params: string[]): void {
  database.write({ id: String(requests++), statements: [{ sql, params }] });
}

function edited(): OpenDatabase {
  const database = openInMemory({ schema });
  write(database, "INSERT INTO page (id, content) VALUES ('p', ?)", TEXT);
  write(database, "UPDATE page SET content = json_set(content, '$.items[3].note', 'first') WHERE id = 'p'");
  return database;
}

const stateOf = (database: OpenDatabase): Uint8Array =>
  database.connection.value('SELECT state FROM rockpool_document') as Uint8Array;
const bases = (database: OpenDatabase): unknown[][] =>
  database.connection.rows('SELECT id FROM rockpool_document_base');

/** The JSON of the stored state, read without this connection's cache. */
function storedText(database: OpenDatabase): string {
  const cell = decodeDocumentCell(stateOf(database));
  if (cell.kind !== 'layers') throw new Error('a state without a base');
  const { documentId, updates, baseId } = cell;
  const update = database.connection.value('SELECT yjs FROM rockpool_document_base WHERE id = ?', baseId) as Uint8Array;
  return documentText(
    mergeDelivered(
      encodeDocumentCell({ kind: 'state', documentId, update }),
      encodeDocumentCell({ kind: 'update', documentId, updates }),
    ),
  );
}

it('an edit of a large document writes little more than the edit itself', () => {
  const database = edited();
  const before = bases(database);
  write(
    database,
    "UPDATE page SET content = json_set(content, '$.items[4].note', 'second', '$.body', 'The tide is out. ' || (content ->> 'body')) WHERE id = 'p'",
  );
  expect(bases(database)).toEqual(before);
  expect(stateOf(database).length).toBeLessThan(500);
  expect(database.connection.value('SELECT length(value) FROM rockpool_base')).toBeLessThan(100);
  expect(storedText(database)).toBe(database.connection.value('SELECT content FROM page'));
  database.close();
});

it('many edits are moved into a new base, and only bases in use are kept', () => {
  const database = edited();
  const [first] = bases(database);
  for (let n = 0; n < 120; n++)
    write(
      database,
      "UPDATE page SET content = json_set(content, '$.items[' || ? || '].note', ?) WHERE id = 'p'",
      String(n),
      `note ${n} of many, and longer than it was before`,
    );
  expect(storedText(database)).toBe(database.connection.value('SELECT content FROM page'));
  // The server's state uses the first base for as long as the edits are pending.
  expect(bases(database)).toHaveLength(2);
  expect(bases(database)).toContainEqual(first);
  write(database, "DELETE FROM page WHERE id = 'p'");
  expect(bases(database)).toEqual([first]);
  database.close();
});

it('a new base reuses the file space of the old one', () => {
  const database = edited();
  const free = (): number =>
    (database.connection.value('PRAGMA freelist_count') as number) *
    (database.connection.value('PRAGMA page_size') as number);
  // The oldest pending edit uses the first base, which is therefore kept.
  for (let n = 0; n < 3; n++) {
    const before = bases(database);
    write(
      database,
      "UPDATE page SET content = json_set(content, '$.body', ? || (content ->> 'body')) WHERE id = 'p'",
      `${n} and the tide goes out. `.repeat(300),
    );
    expect(bases(database)).not.toEqual(before);
  }
  expect(bases(database)).toHaveLength(2);
  expect(free()).toBeLessThan(
    (database.connection.value('SELECT min(length(yjs)) FROM rockpool_document_base') as number) / 2,
  );
  expect(storedText(database)).toBe(database.connection.value('SELECT content FROM page'));
  database.close();
});

it('a rollback leaves the document unchanged, and the next edit builds on it', () => {
  const database = edited();
  const before = stateOf(database);
  expect(() =>
    database.write({
      id: 'x',
      statements: [
        { sql: "UPDATE page SET content = json_set(content, '$.items[4].note', 'lost') WHERE id = 'p'", params: [] },
        { sql: "INSERT INTO page (id) VALUES ('p')", params: [] },
      ],
    }),
  ).toThrow();
  expect(stateOf(database)).toEqual(before);
  write(database, "UPDATE page SET content = json_set(content, '$.items[5].note', 'kept') WHERE id = 'p'");
  expect(storedText(database)).toBe(database.connection.value('SELECT content FROM page'));
  expect(storedText(database)).not.toContain('lost');
  database.close();
});
