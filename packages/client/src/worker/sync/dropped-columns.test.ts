import { buildSchema } from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import {
  admitted,
  testDelivery,
  testEpoch,
  testGroup,
  testSync,
  testWelcome,
} from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openStored } from '../../../testing/worker/test-database.ts';

const note = testTable('note', { id: 'text not null', text: 'text', colour: 'text' });
const label = testTable('label', { id: 'text not null', name: 'text' });
const plainNote = testTable('note', { id: 'text not null', text: 'text' });
const FIRST = {
  tag: '0000',
  sql: 'CREATE TABLE note (id text PRIMARY KEY NOT NULL, text text, colour text);\n--> statement-breakpoint\nCREATE TABLE label (id text PRIMARY KEY NOT NULL, name text)',
};
const SECOND = { tag: '0001', sql: 'ALTER TABLE note DROP COLUMN colour;\n--> statement-breakpoint\nDROP TABLE label' };

let requests = 0;

function write(database: OpenDatabase, sql: string): void {
  database.write({ id: `w${++requests}`, statements: [{ sql, params: [] }] });
}

const notes = (database: OpenDatabase): unknown[][] =>
  database.connection.rows('SELECT id, text FROM note ORDER BY id');

it('a restored server receives changes of a table and a column that the device has dropped since, and sync continues [MR-45]', async () => {
  const medium = memoryMedium();
  const before = await openStored(medium, { schema: buildSchema([note, label]), migrations: [FIRST] });
  write(before.database, "INSERT INTO note VALUES ('a', 'x', 'red'), ('b', 'y', 'blue'), ('c', 'z', 'red')");
  write(before.database, "UPDATE note SET text = 'x2', colour = 'green' WHERE id = 'a'");
  write(before.database, "UPDATE note SET colour = 'green' WHERE id = 'b'");
  write(before.database, "DELETE FROM note WHERE id = 'c'");
  write(before.database, "INSERT INTO label VALUES ('l', 'gone')");
  const first = testSync(before.database);
  first.greet(testWelcome());
  first.applyDelivery(testDelivery({ to: 5, lastAckedSequence: 5, outcomes: admitted(1, 5) }));
  await before.close();

  const { database, close } = await openStored(medium, {
    schema: buildSchema([plainNote]),
    migrations: [FIRST, SECOND],
  });
  write(database, "INSERT INTO note VALUES ('d', 'new')");
  const bodies = (): unknown[] =>
    database.connection.rows('SELECT body FROM rockpool_changelog ORDER BY sequence').flat();
  const written = bodies();
  const sync = testSync(database);
  // The backup has only the first changeset.
  const theirs = testGroup('insert', plainNote, [
    { id: 'a', text: 'x' },
    { id: 'b', text: 'y' },
    { id: 'c', text: 'z' },
  ]);
  expect(
    sync.greet(
      testWelcome({
        logEpoch: testEpoch(2),
        fullResync: true,
        lastAckedSequence: 1,
        decidedHash: database.changelog.hashOf(1),
      }),
    ),
  ).toEqual({ kind: 'fits' });
  sync.applyDelivery(testDelivery({ whole: true, to: 1, lastAckedSequence: 1, groups: [theirs] }));
  expect(notes(database)).toEqual([
    ['a', 'x2'],
    ['b', 'y'],
    ['d', 'new'],
  ]);
  // They are sent as they were written: otherwise the server would take them for different changesets.
  expect(sync.nextPush(1, 1e9)?.changesets.map(({ body }) => body)).toEqual(written.slice(1));

  // Another site updates a row with pending changes; then the server admits all changesets but one.
  sync.applyDelivery(
    testDelivery({
      from: 1,
      to: 2,
      lastAckedSequence: 1,
      groups: [testGroup('update', plainNote, [{ id: 'b', text: 'theirs' }])],
    }),
  );
  const refused = { kind: 'rejected', sequence: 5, code: 'schema-unknown-table', fields: {} } as const;
  sync.applyDelivery(
    testDelivery({ from: 2, to: 6, lastAckedSequence: 6, outcomes: [...admitted(2, 4), refused, ...admitted(6, 6)] }),
  );
  expect(notes(database)).toEqual([
    ['a', 'x2'],
    ['b', 'theirs'],
    ['d', 'new'],
  ]);
  expect(database.listRejected()).toMatchObject([
    { sequence: 5, reason: { code: 'schema-unknown-table' }, changes: [] },
  ]);
  expect(database.connection.value('SELECT count(*) FROM rockpool_base')).toBe(0);
  database.write({ id: 'drop', statements: [], action: { kind: 'drop-rejected', sequence: 5 } });
  expect(sync.counts()).toEqual({ pendingCount: 0, rejectedCount: 0 });
  await close();
});
