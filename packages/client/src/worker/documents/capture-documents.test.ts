import {
  buildSchema,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  RockpoolError,
  type ErrorCode,
  type Outcome,
} from '@rockpool/shared';
import { createDocument, decodeDocumentCell, editDocument, encodeDocumentCell } from '@rockpool/shared/document';
import { describe, expect, it, vi } from 'vitest';
import { mayAffect, type TouchedTables } from '../../rpc/query-dependencies.ts';
import { writeStates } from '../changelog/write-states.ts';
import { retryDependentEdits } from '../write/retry-dependent-edits.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import {
  admitted,
  testDelivery,
  testGroup,
  testSync,
  testWelcome,
  type TestSync,
} from '../../../testing/worker/sync-steps.ts';
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

it('content that replaces a document which earlier pending content covers has a base from before that document [MR-02]', () => {
  const database = openInMemory({ schema });
  const sync = testSync(database);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 1, groups: [testGroup('insert', page, [{ id: 'p', content: null }])] }));
  const basesOf = (sql: string): unknown => {
    const { sequence } = database.write({ id: String(requests++), statements: [{ sql, params: [] }] });
    return database.changelog.read(sequence as number)?.cellBases.map(({ base }) => base);
  };
  expect(basesOf(`UPDATE page SET content = '{"title":"Mine"}'`)).toEqual([]);
  const theirs = createDocument({ title: 'Theirs' }, DEFAULT_DOCUMENT_RULE);
  sync.applyDelivery(
    testDelivery({ from: 1, to: 2, groups: [testGroup('update', page, [{ id: 'p', content: theirs }])] }),
  );
  expect(basesOf('UPDATE page SET content = NULL')).toEqual([1]);
  expect(basesOf(`UPDATE page SET content = '{"title":"Mine again"}'`)).toEqual([1]);
  // Once the earlier ones are decided, the document is visible, and an edit merges into it.
  const reject = [1, 2, 3].map(
    (sequence) => ({ kind: 'rejected', sequence, code: 'constraint-check', fields: {} }) as const,
  );
  sync.applyDelivery(testDelivery({ from: 2, to: 2, lastAckedSequence: 3, outcomes: reject }));
  expect(basesOf(`UPDATE page SET content = '{"title":"Ours"}'`)).toEqual([]);
  sync.applyDelivery(
    testDelivery({
      from: 2,
      to: 3,
      lastAckedSequence: 3,
      groups: [testGroup('update', page, [{ id: 'p', content: theirs }])],
    }),
  );
  expect(basesOf('UPDATE page SET content = NULL')).toEqual([]);
  database.close();
});

it('content that was replaced by a pending write stays seen while it does not change', () => {
  const noted = testTable('page', { id: 'text not null', content: 'text', note: 'text' }, { merge: page.merge });
  const database = openInMemory({ schema: buildSchema([noted]) });
  const sync = testSync(database);
  sync.greet(testWelcome());
  const theirs = createDocument({ title: 'Theirs' }, DEFAULT_DOCUMENT_RULE);
  sync.applyDelivery(
    testDelivery({ to: 1, groups: [testGroup('insert', noted, [{ id: 'p', content: theirs, note: '' }])] }),
  );
  const basesOf = (sql: string): unknown => {
    const { sequence } = database.write({ id: String(requests++), statements: [{ sql, params: [] }] });
    return database.changelog.read(sequence as number)?.cellBases.map(({ base }) => base);
  };
  expect(basesOf('UPDATE page SET content = NULL')).toEqual([]);
  for (const to of [2, 3])
    sync.applyDelivery(
      testDelivery({ from: to - 1, to, groups: [testGroup('update', noted, [{ id: 'p', note: String(to) }])] }),
    );
  expect(basesOf('DELETE FROM page')).toEqual([]);
  database.close();
});

/** The outcomes of changesets 1 to 3: the first is admitted, the others are rejected with these codes. */
function decided(second: ErrorCode, third: ErrorCode): Outcome[] {
  const rejection = { kind: 'rejected', fields: {} } as const;
  return [...admitted(1, 1), { ...rejection, sequence: 2, code: second }, { ...rejection, sequence: 3, code: third }];
}

/** One document and two edits of it, each a changeset. */
function written(...contents: readonly [string, string, string]): { database: OpenDatabase; sync: TestSync } {
  const database = openInMemory({ schema });
  const sync = testSync(database);
  sync.greet(testWelcome());
  write(database, `INSERT INTO page (id, content) VALUES ('p', '${contents[0]}')`);
  for (const content of contents.slice(1)) write(database, `UPDATE page SET content = '${content}'`);
  return { database, sync };
}

const rejectedIn = (database: OpenDatabase): number[] => database.listRejected().map(({ sequence }) => sequence);
const contentOf = (database: OpenDatabase): unknown => database.connection.value('SELECT content FROM page');

describe('a dependent edit', () => {
  it('stays rejected if the place that it changes does not exist without the rejected edit', () => {
    const { database, sync } = written(
      '{"items":[]}',
      '{"items":[{"id":"x","body":"a"}]}',
      '{"items":[{"id":"x","body":"hello"}]}',
    );
    sync.applyDelivery(
      testDelivery({ to: 1, lastAckedSequence: 3, outcomes: decided('constraint-check', 'document-gap') }),
    );
    expect([rejectedIn(database), contentOf(database)]).toEqual([[2, 3], '{"items":[]}']);
    expect(() => database.retryRejected(3)).toThrow(
      expect.objectContaining({ code: 'document-place-missing', fields: { table: 'page', column: 'content' } }),
    );
    database.retryRejected(2);
    database.retryRejected(3);
    expect([rejectedIn(database), contentOf(database)]).toEqual([[], '{"items":[{"body":"hello","id":"x"}]}']);
    database.close();
  });

  it('stays rejected if the place has a newer value, which the user may overwrite by a retry', () => {
    const { database, sync } = written('{"n":1}', '{"n":1,"m":1}', '{"n":2,"m":1}');
    const reject = decided('constraint-check', 'document-gap');
    // A newer value in place of the rejected one, before the outcome of the dependent edit arrives.
    sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 2, outcomes: reject.slice(0, 2) }));
    write(database, `UPDATE page SET content = '{"n":3}'`);
    sync.applyDelivery(testDelivery({ from: 1, to: 1, lastAckedSequence: 3, outcomes: reject.slice(2) }));
    expect([rejectedIn(database), contentOf(database)]).toEqual([[2, 3], '{"n":3}']);
    database.retryRejected(3);
    expect([rejectedIn(database), contentOf(database)]).toEqual([[2], '{"n":2}']);
    database.close();
  });

  it('is written again if the place has the old value or the new one', () => {
    for (const now of ['{"n":1}', '{"n":2}']) {
      const { database, sync } = written(now, '{"m":1,"n":1}', '{"m":1,"n":2}');
      sync.applyDelivery(
        testDelivery({ to: 1, lastAckedSequence: 3, outcomes: decided('constraint-check', 'document-gap') }),
      );
      expect([rejectedIn(database), contentOf(database)]).toEqual([[2], '{"n":2}']);
      database.close();
    }
  });

  it('reports every row that it changes when it is written again with a delivery of other rows', () => {
    const database = openInMemory({ schema });
    let touched: TouchedTables = { tables: [], changes: [] };
    const sync = testSync(
      database,
      () => 0,
      (now) => (touched = now),
    );
    sync.greet(testWelcome());
    for (const sql of [
      `INSERT INTO page (id, content) VALUES ('p', '{"n":1}'), ('q', '{"n":1}')`,
      `UPDATE page SET content = '{"m":1,"n":1}' WHERE id = 'p'`,
      `UPDATE page SET content = json_set(content, '$.n', 2)`,
    ])
      write(database, sql);
    const reject = decided('constraint-check', 'document-gap');
    sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 2, outcomes: reject.slice(0, 2) }));
    write(database, `UPDATE page SET content = '{"n":3}' WHERE id = 'p'`);
    sync.applyDelivery(testDelivery({ from: 1, to: 1, lastAckedSequence: 3, outcomes: reject.slice(2) }));
    expect(rejectedIn(database)).toEqual([2, 3]);
    write(database, `UPDATE page SET content = '{"n":1}' WHERE id = 'p'`);
    const contentOfQ = { sql: "SELECT content FROM page WHERE id = 'q'", params: [] };
    const dependencies = database.dependencies(contentOfQ);
    sync.applyDelivery(
      testDelivery({ from: 1, to: 2, lastAckedSequence: 3, groups: [testGroup('insert', page, [{ id: 'r' }])] }),
    );
    expect([rejectedIn(database), database.connection.value(contentOfQ.sql)]).toEqual([[2], '{"n":2}']);
    expect(mayAffect(touched, dependencies)).toBe(true);
    database.close();
  });

  it('stays rejected if its changeset also deletes a row whose document has been edited since', () => {
    const database = openInMemory({ schema });
    const sync = testSync(database);
    sync.greet(testWelcome());
    write(database, `INSERT INTO page (id, content) VALUES ('p', '{"n":1}'), ('q', '{"title":"Idea"}')`);
    sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
    write(database, `UPDATE page SET content = '{"m":1,"n":1}' WHERE id = 'p'`);
    database.write({
      id: 'both',
      statements: [
        { sql: `UPDATE page SET content = '{"m":1,"n":2}' WHERE id = 'p'`, params: [] },
        { sql: `DELETE FROM page WHERE id = 'q'`, params: [] },
      ],
    });
    sync.applyDelivery(
      testDelivery({
        from: 1,
        to: 2,
        lastAckedSequence: 3,
        outcomes: decided('constraint-check', 'document-gap').slice(1),
        groups: [testGroup('update', page, [{ id: 'q', content: updateOfEdit('Trip') }])],
      }),
    );
    expect(rejectedIn(database)).toEqual([2, 3]);
    expect(database.connection.rows('SELECT id, content FROM page ORDER BY id')).toEqual([
      ['p', '{"n":1}'],
      ['q', '{"title":"Trip"}'],
    ]);
    database.retryRejected(3);
    expect(database.connection.rows('SELECT id, content FROM page')).toEqual([['p', '{"n":2}']]);
    database.close();
  });

  it('is pending again under its request once it is written again, and can be undone', () => {
    const { database, sync } = written('{"n":1}', '{"m":1,"n":1}', '{"m":1,"n":2}');
    const id = String(requests - 1);
    const { connection } = database;
    const run = connection.run.bind(connection);
    const areInTransaction: boolean[] = [];
    vi.spyOn(connection, 'run').mockImplementation((sql, ...params) => {
      if (sql.startsWith('UPDATE rockpool_request')) areInTransaction.push(connection.inTransaction);
      run(sql, ...params);
    });
    sync.applyDelivery(
      testDelivery({ to: 1, lastAckedSequence: 3, outcomes: decided('constraint-check', 'document-gap') }),
    );
    expect(areInTransaction).toEqual([true]);
    expect(writeStates(connection, [id])).toEqual([{ state: 'pending' }]);
    expect(contentOf(database)).toBe('{"n":2}');
    database.write({ id: 'undo', statements: [], action: { kind: 'undo', requestId: id } });
    expect(contentOf(database)).toBe('{"n":1}');
    database.close();
  });

  it('is tried again with later deliveries, a few of many at a time', () => {
    const { database, sync } = written('{"n":0}', '{"n":1}', '{"n":2}');
    for (let n = 3; n <= 50; n++) write(database, `UPDATE page SET content = '{"n":${n}}'`);
    const rejected = (from: number, to: number): Outcome[] =>
      Array.from({ length: to - from + 1 }, (_, index) => ({
        kind: 'rejected',
        sequence: from + index,
        code: 'document-gap',
        fields: {},
      }));
    sync.applyDelivery(
      testDelivery({ to: 1, lastAckedSequence: 3, outcomes: decided('constraint-check', 'document-gap') }),
    );
    write(database, `UPDATE page SET content = '{"n":"new"}'`);
    sync.applyDelivery(testDelivery({ from: 1, to: 1, lastAckedSequence: 51, outcomes: rejected(4, 51) }));
    expect([rejectedIn(database).length, contentOf(database)]).toEqual([50, '{"n":"new"}']);
    const tried: number[][] = [];
    for (let round = 0; round < 3; round++) {
      const attempts: number[] = [];
      const retryIfUnchanged = (sequence: number): never => {
        attempts.push(sequence);
        throw new RockpoolError('document-gap');
      };
      const { rejected, outbox, meta } = database;
      retryDependentEdits({ rejected, outbox, meta, retryIfUnchanged });
      tried.push(attempts);
    }
    expect(tried.map(({ length }) => length)).toEqual([20, 20, 20]);
    expect(new Set(tried.flat()).size).toBe(49);
    database.close();
  });

  it('is tried with all others once the user has retried the edit on which they build', () => {
    const { database, sync } = written('{"n":0}', '{"n":1}', '{"n":2}');
    for (let n = 3; n <= 50; n++) write(database, `UPDATE page SET content = '{"n":${n}}'`);
    const outcomes = Array.from({ length: 51 }, (_, index): Outcome => {
      const sequence = index + 1;
      if (sequence === 1) return { kind: 'admitted', sequence, watermark: 1, conflictCount: 0 };
      return { kind: 'rejected', sequence, code: sequence === 2 ? 'constraint-check' : 'document-gap', fields: {} };
    });
    sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 51, outcomes }));
    sync.applyDelivery(testDelivery({ from: 1, to: 1, lastAckedSequence: 51 }));
    expect([rejectedIn(database).length, contentOf(database)]).toEqual([50, '{"n":0}']);
    database.retryRejected(2);
    sync.applyDelivery(testDelivery({ from: 1, to: 1, lastAckedSequence: 51 }));
    expect([rejectedIn(database), contentOf(database)]).toEqual([[], '{"n":50}']);
    database.close();
  });

  it('is not written again by the user while its document is NULL or its row is gone', () => {
    const { database, sync } = written('{"n":1}', '{"n":2}', '{"n":3}');
    sync.applyDelivery(
      testDelivery({ to: 1, lastAckedSequence: 3, outcomes: decided('constraint-check', 'constraint-check') }),
    );
    write(database, 'UPDATE page SET content = NULL');
    expect(() => database.retryRejected(2)).toThrow(
      expect.objectContaining({ code: 'document-gone', fields: { table: 'page', column: 'content' } }),
    );
    write(database, 'DELETE FROM page');
    expect(() => database.retryRejected(2)).toThrow(expect.objectContaining({ code: 'row-missing' }));
    expect(rejectedIn(database)).toEqual([2, 3]);
    database.close();
  });
});
