import { buildSchema, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES } from '@rockpool/shared';
import { createDocument, decodeDocumentCell, editDocument, encodeDocumentCell } from '@rockpool/shared/document';
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

function write(database: OpenDatabase, sql: string): void {
  database.write({ id: String(requests++), statements: [{ sql, params: [] }] });
}

/** The update of another site's edit of a document that began as {"title":"Idea"}. */
function updateOfEdit(title: string): Uint8Array {
  const { edit } = editDocument(
    createDocument({ title: 'Idea' }, DEFAULT_DOCUMENT_RULE),
    { title },
    DEFAULT_DOCUMENT_RULE,
    { site: 'other', generation: 1 },
  );
  const { documentId, update } = decodeDocumentCell(edit) as Extract<
    ReturnType<typeof decodeDocumentCell>,
    { kind: 'edit' }
  >;
  return encodeDocumentCell({ kind: 'update', documentId, updates: [update] });
}

it('a document that was deleted, inserted again and edited is not merged with the server’s document, which another site edits', () => {
  const database = openInMemory({ schema });
  const sync = testSync(database);
  const content = (): unknown => database.connection.value('SELECT content FROM page');
  write(database, `INSERT INTO page (id, content) VALUES ('p', '{"title":"Idea"}')`);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
  write(database, 'DELETE FROM page');
  // An update without changes; applying it stores the covered values again.
  sync.applyDelivery(
    testDelivery({
      from: 1,
      to: 2,
      lastAckedSequence: 1,
      groups: [testGroup('update', page, [{ id: 'p', content: updateOfEdit('Idea') }])],
    }),
  );
  write(database, `INSERT INTO page (id, content) VALUES ('p', '{"title":"Mine"}')`);
  write(database, `UPDATE page SET content = '{"title":"Mine too"}'`);
  sync.applyDelivery(
    testDelivery({
      from: 2,
      to: 3,
      lastAckedSequence: 1,
      groups: [testGroup('update', page, [{ id: 'p', content: updateOfEdit('Trip') }])],
    }),
  );
  expect(content()).toBe('{"title":"Mine too"}');
  const outcomes = [2, 3, 4].map(
    (sequence) => ({ kind: 'rejected', sequence, code: 'constraint-check', fields: {} }) as const,
  );
  sync.applyDelivery(testDelivery({ from: 3, to: 4, lastAckedSequence: 4, outcomes }));
  expect(content()).toBe('{"title":"Trip"}');
  database.close();
});
