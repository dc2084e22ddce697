import { buildSchema, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES } from '@rockpool/shared';
import { expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { admitted, testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const account = testTable('account', { id: 'text not null', name: 'text' });
const page = testTable(
  'page',
  { id: 'text not null', content: 'text' },
  { merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content' }] } },
);

let requests = 0;

function write(database: OpenDatabase, sql: string): void {
  database.write({ id: `w${++requests}`, statements: [{ sql, params: [] }] });
}

/** Inserts and edits a page locally, then delivers a full resync that does not contain it. */
function resynced(): { readonly database: OpenDatabase; readonly sync: ReturnType<typeof testSync> } {
  const database = openInMemory({ schema: buildSchema([account, page]) });
  const sync = testSync(database);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 1, groups: [testGroup('insert', account, [{ id: 'a', name: 'Cash' }])] }));
  write(database, `INSERT INTO page (id, content) VALUES ('p', '{"items":[]}')`);
  write(database, `UPDATE page SET content = json_set(content, '$.title', 'Tides') WHERE id = 'p'`);
  write(database, "UPDATE account SET name = 'Purse' WHERE id = 'a'");
  sync.greet(testWelcome({ fullResync: true }));
  sync.applyDelivery(
    testDelivery({ whole: true, to: 1, groups: [testGroup('insert', account, [{ id: 'a', name: 'Cash' }])] }),
  );
  return { database, sync };
}

it.each([
  ['arrives alone', []],
  ['arrives with changes of other rows', [testGroup('update', account, [{ id: 'a', name: 'Till' }])]],
])('a document whose row is admitted before its edit survives a full resync when the outcome %s', (_, groups) => {
  const { database, sync } = resynced();
  sync.applyDelivery(testDelivery({ from: 1, to: 2, lastAckedSequence: 1, outcomes: admitted(1, 1), groups }));
  // The pending change of the account covers a value from the server.
  sync.applyDelivery(
    testDelivery({
      from: 2,
      to: 3,
      lastAckedSequence: 1,
      groups: [testGroup('update', account, [{ id: 'a', name: 'Bank' }])],
    }),
  );
  sync.applyDelivery(testDelivery({ from: 3, to: 4, lastAckedSequence: 2, outcomes: admitted(2, 2) }));
  expect(database.connection.rows('SELECT content FROM page')).toEqual([['{"items":[],"title":"Tides"}']]);
  database.close();
});
