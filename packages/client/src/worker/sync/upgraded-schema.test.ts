import {
  buildSchema,
  columnIdOf,
  DEFAULT_DOCUMENT_RULE,
  DEFAULT_MERGE_RULES,
  EXISTENCE_COLUMN_ID,
} from '@rockpool/shared';
import { memoryMedium } from '@rockpool/vfs-opfs';
import { expect, it } from 'vitest';
import { testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openStored } from '../../../testing/worker/test-database.ts';

const note = testTable('note', { id: 'text not null', text: 'text' });
const withColour = testTable('note', { id: 'text not null', text: 'text', colour: 'text' });
const withPage = testTable(
  'note',
  { id: 'text not null', text: 'text', colour: 'text', page: 'text' },
  { merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'page' }] } },
);

it('a device requests a full resync once its app has a newer schema, because the server may already have values of the new columns', async () => {
  const medium = memoryMedium();
  const before = await openStored(medium, { schema: buildSchema([note]) });
  const sync = testSync(before.database);
  expect(sync.position().fullResync).toBe(false);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 5, groups: [testGroup('insert', note, [{ id: 'a', text: 'x' }])] }));
  await before.close();

  const after = await openStored(medium, { schema: buildSchema([withColour]) });
  const again = testSync(after.database);
  expect(again.position()).toMatchObject({ cursor: 5, fullResync: true });
  again.greet(testWelcome({ fullResync: true }));
  const whole = testGroup('insert', withColour, [{ id: 'a', text: 'x', colour: 'red' }]);
  expect(whole.columnIds).toContain(columnIdOf('colour'));
  again.applyDelivery(testDelivery({ whole: true, to: 7, groups: [whole] }));
  expect(again.position()).toMatchObject({ cursor: 7, fullResync: false });
  expect(after.database.connection.rows('SELECT text, colour FROM note')).toEqual([['x', 'red']]);
  await after.close();
});

it('a device counts a new column as unseen until the full resync has arrived, because others may have written it', async () => {
  const medium = memoryMedium();
  const before = await openStored(medium, { schema: buildSchema([note]) });
  const sync = testSync(before.database);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 5, groups: [testGroup('insert', note, [{ id: 'a', text: 'x' }])] }));
  await before.close();

  const tag = testTable('tag', { id: 'text not null', word: 'text' });
  const { database, close } = await openStored(medium, { schema: buildSchema([withPage, tag]) });
  const basesOf = (sql: string): unknown => {
    const { sequence } = database.write({ id: sql, statements: [{ sql, params: [] }] });
    return database.changelog.read(sequence as number)?.cellBases.map(({ columnId, base }) => [columnId, base]);
  };
  expect(basesOf("UPDATE note SET colour = 'blue'")).toEqual([[columnIdOf('colour'), 0]]);
  expect(basesOf("UPDATE note SET text = 'y'")).toEqual([]);
  expect(basesOf("INSERT INTO tag VALUES ('t', 'old')")).toEqual([[EXISTENCE_COLUMN_ID, 0]]);
  // New content replaces a document of others by last writer wins.
  expect(basesOf("UPDATE note SET page = '{}'")).toEqual([[columnIdOf('page'), 0]]);
  const again = testSync(database);
  again.greet(testWelcome({ fullResync: true }));
  const whole = testGroup('insert', withPage, [{ id: 'a', text: 'x', colour: 'red', page: null }]);
  again.applyDelivery(testDelivery({ whole: true, to: 7, groups: [whole] }));
  // The earlier write covers the server's value, which its author had not seen.
  expect(basesOf("UPDATE note SET colour = 'green'")).toEqual([[columnIdOf('colour'), 0]]);
  expect(basesOf("INSERT INTO tag VALUES ('u', 'new')")).toEqual([]);
  await close();
});

it('a delete also deletes values of a new column that have not arrived, even if the device has written the column [MR-02]', async () => {
  const medium = memoryMedium();
  const before = await openStored(medium, { schema: buildSchema([note]) });
  const sync = testSync(before.database);
  sync.greet(testWelcome());
  const rows = ['a', 'b'].map((id) => ({ id, text: 'x' }));
  sync.applyDelivery(testDelivery({ to: 5, groups: [testGroup('insert', note, rows)] }));
  await before.close();

  const { database, close } = await openStored(medium, { schema: buildSchema([withPage]) });
  const basesOf = (sql: string): unknown => {
    const { sequence } = database.write({ id: sql, statements: [{ sql, params: [] }] });
    return database.changelog.read(sequence as number)?.cellBases.map(({ columnId, base }) => [columnId, base]);
  };
  expect(basesOf("DELETE FROM note WHERE id = 'a'")).toEqual([]);
  expect(basesOf("UPDATE note SET colour = 'blue' WHERE id = 'b'")).toEqual([[columnIdOf('colour'), 0]]);
  expect(basesOf("UPDATE note SET page = '{}' WHERE id = 'b'")).toEqual([[columnIdOf('page'), 0]]);
  // The server does not know the new columns yet.
  const narrow = testSync(database);
  narrow.greet(testWelcome());
  narrow.applyDelivery(testDelivery({ from: 5, to: 6, groups: [testGroup('update', note, [{ id: 'b', text: 'y' }])] }));
  expect(basesOf("DELETE FROM note WHERE id = 'b'")).toEqual([]);
  await close();
});

it('a device that has never synced requests no full resync for a newer schema', async () => {
  const medium = memoryMedium();
  await (await openStored(medium, { schema: buildSchema([note]) })).close();
  const after = await openStored(medium, { schema: buildSchema([withColour]) });
  expect(testSync(after.database).position().fullResync).toBe(false);
  await after.close();
});

it('a device requests a full resync once the server knows the schema of its file, after it knew only that of an older bundle', async () => {
  const medium = memoryMedium();
  await (await openStored(medium, { schema: buildSchema([withColour]) })).close();
  const older = await openStored(medium, { schema: buildSchema([note]) });
  const sync = testSync(older.database);
  expect([sync.schemaHash, sync.onSchemaMismatch(), sync.schemaHash]).toEqual([
    buildSchema([withColour]).hash,
    true,
    buildSchema([note]).hash,
  ]);
  sync.greet(testWelcome());
  sync.applyDelivery(testDelivery({ to: 5, groups: [testGroup('insert', note, [{ id: 'a', text: 'x' }])] }));
  expect(sync.position().fullResync).toBe(false);
  // If the server knows neither schema, the file's is named again at the next attempt.
  expect([sync.onSchemaMismatch(), sync.schemaHash, sync.position().fullResync]).toEqual([
    false,
    buildSchema([withColour]).hash,
    true,
  ]);
  await older.close();

  const newer = await openStored(medium, { schema: buildSchema([withColour]) });
  const again = testSync(newer.database);
  expect(again.position()).toMatchObject({ cursor: 5, fullResync: true });
  again.greet(testWelcome({ fullResync: true }));
  // The full resync is still needed if the connection ends before it has arrived.
  expect(testSync(newer.database).position().fullResync).toBe(true);
  again.applyDelivery(
    testDelivery({
      whole: true,
      to: 7,
      groups: [testGroup('insert', withColour, [{ id: 'a', text: 'x', colour: 'red' }])],
    }),
  );
  expect(testSync(newer.database).position().fullResync).toBe(false);
  expect([again.onSchemaMismatch(), again.schemaHash]).toEqual([false, buildSchema([withColour]).hash]);
  await newer.close();
});
