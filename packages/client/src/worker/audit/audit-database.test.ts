import { buildSchema, type AuditAnswer } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const page = testTable('page', { id: 'text not null', title: 'text' }, { uniques: [['title']] });

it('an audit compares and repairs the server’s rows beneath pending changesets, whether or not they fit', () => {
  const database = openInMemory({ schema: buildSchema([page]) });
  const sync = testSync(database);
  const visible = (): unknown[][] => database.connection.rows('SELECT id, title FROM page ORDER BY id');
  const compared = (): Set<unknown[]> =>
    new Set([...sync.audit.serverRows(page)].flat().map(({ key, cells }) => [...key, ...cells]));
  const deliver = (from: number, kind: 'insert' | 'update', a: string, b: string): void => {
    const groups = [
      testGroup(kind, page, [
        { id: 'a', title: a },
        { id: 'b', title: b },
      ]),
    ];
    sync.applyDelivery(testDelivery({ from, to: from + 1, groups }));
  };
  sync.greet(testWelcome());
  deliver(0, 'insert', 'A', 'B');
  for (const sql of ["UPDATE page SET title = 'C' WHERE id = 'a'", "INSERT INTO page VALUES ('c', 'D')"])
    database.write({ id: sql, statements: [{ sql, params: [] }] });
  deliver(1, 'update', 'D', 'C');
  expect(visible()).toEqual([
    ['a', 'D'],
    ['b', 'C'],
  ]);
  expect(database.rejected.count()).toBe(2);
  expect(compared()).toEqual(new Set(visible()));
  const answer: AuditAnswer = {
    type: 'audit-answer',
    cursor: 2,
    compared: true,
    differing: [{ tableId: page.id, ranges: [0] }],
    groups: [
      testGroup('insert', page, [
        { id: 'a', title: 'D' },
        { id: 'b', title: 'E' },
      ]),
    ],
  };
  expect(sync.audit.repair(answer, new Map([[page.id, 1]]))).toEqual([{ table: 'page', rowCount: 1 }]);
  // The changesets fit again.
  expect(visible()).toEqual([
    ['a', 'C'],
    ['b', 'E'],
    ['c', 'D'],
  ]);
  expect(database.rejected.count()).toBe(0);
  expect(compared()).toEqual(
    new Set([
      ['a', 'D'],
      ['b', 'E'],
    ]),
  );
  database.close();
});
