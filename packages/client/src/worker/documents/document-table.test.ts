import { buildSchema, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES } from '@rockpool/shared';
import { createDocument, type JsonValue } from '@rockpool/shared/document';
import { expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { admitted, testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const page = testTable(
  'page',
  { id: 'text not null', content: 'text' },
  { merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content' }] } },
);
const schema = buildSchema([page]);

let requests = 0;

function write(database: OpenDatabase, sql: string, ...params: string[]): void {
  database.write({ id: String(requests++), statements: [{ sql, params }] });
}

/** A page that was edited locally, with every edit admitted. */
function editedAndAdmitted(start: JsonValue): {
  readonly database: OpenDatabase;
  readonly sync: ReturnType<typeof testSync>;
} {
  const database = openInMemory({ schema });
  const sync = testSync(database);
  write(database, "INSERT INTO page (id, content) VALUES ('p', ?)", JSON.stringify(start));
  write(database, "UPDATE page SET content = json_set(content, '$.n', 1) WHERE id = 'p'");
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 2, lastAckedSequence: 2, outcomes: admitted(1, 2) }));
  return { database, sync };
}

const generation = (database: OpenDatabase): number => database.meta.documentGeneration;

it.each([
  ['small', 'tide'],
  ['large', 'tide '.repeat(4_000)],
])('a generation of edits begins when others remove a %s document and insert an equal one', (_, body) => {
  const { database, sync } = editedAndAdmitted({ body, n: 0 });
  const before = generation(database);
  const again = createDocument({ body, n: 0 }, DEFAULT_DOCUMENT_RULE);
  sync.applyDelivery(
    testDelivery({
      from: 2,
      to: 4,
      lastAckedSequence: 2,
      groups: [testGroup('insert', page, [{ id: 'p', content: again }])],
    }),
  );
  expect(database.connection.rows('SELECT content FROM page')).toEqual([[JSON.stringify({ body, n: 0 })]]);
  expect(generation(database)).toBe(before + 1);
  database.close();
});

it.each(["DELETE FROM page WHERE id = 'p'", "UPDATE page SET content = NULL WHERE id = 'p'"])(
  'a generation of edits begins when an edited document is removed: %s',
  (sql) => {
    const { database } = editedAndAdmitted({ n: 0 });
    const before = generation(database);
    write(database, sql);
    expect(generation(database)).toBe(before + 1);
    database.close();
  },
);

it.each([
  ['small', 'tide'],
  ['large', 'tide '.repeat(4_000)],
])('a generation of edits lasts while a %s document continues', (_, body) => {
  const { database, sync } = editedAndAdmitted({ body, n: 0 });
  const before = generation(database);
  for (let n = 2; n < 40; n++)
    write(database, "UPDATE page SET content = json_set(content, '$.n', ?) WHERE id = 'p'", `${n}`.repeat(50));
  sync.applyDelivery(testDelivery({ from: 2, to: 40, lastAckedSequence: 40, outcomes: admitted(3, 40) }));
  expect(generation(database)).toBe(before);
  database.close();
});
