import {
  buildSchema,
  RockpoolError,
  type CellValue,
  type ChangeGroup,
  type ChangeKind,
  type Outcome,
} from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { repairRows } from '../audit/repair-rows.ts';
import { readCaptureTable } from '../capture/capture-table.ts';
import { TransactionCapture } from '../capture/transaction-capture.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { testDelivery, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';
import { writeAsBefore } from '../../../testing/worker/write-as-before.ts';
import { PendingIndex } from './pending-index.ts';

/*
 * Rows with different keys that SQLite considers equal, such as 1 and 1.0. Earlier versions allowed key columns without
 * affinity, which hold values of any type.
 */

const tag = testTable('tag', { id: 'blob not null', note: 'text' });
const bare = testTable('bare', { id: 'blob not null' });
const schema = buildSchema([tag, bare]);

function open(): { readonly database: OpenDatabase; readonly sync: ReturnType<typeof testSync> } {
  const database = openInMemory({ schema });
  const sync = testSync(database);
  sync.greet(testWelcome());
  return { database, sync };
}

const tagGroup = (kind: ChangeKind, id: CellValue, note?: string): ChangeGroup => ({
  tableId: tag.id,
  kind,
  rowCount: 1,
  keys: [[id]],
  columnIds: note === undefined ? [] : [tag.columns[1]?.id as number],
  values: note === undefined ? [] : [[note]],
});
const bareGroup = (kind: ChangeKind, id: CellValue): ChangeGroup => ({
  tableId: bare.id,
  kind,
  rowCount: 1,
  keys: [[id]],
  columnIds: [],
  values: [],
});
const rejected = (sequence: number): Outcome => ({ kind: 'rejected', sequence, code: 'key-invalid', fields: {} });
const tags = ({ connection }: OpenDatabase): unknown => connection.rows('SELECT quote(id), note FROM tag ORDER BY id');
const bares = ({ connection }: OpenDatabase): unknown => connection.rows('SELECT quote(id) FROM bare ORDER BY id');

describe('a pending row with the key 1.0', () => {
  it('is replaced by the server’s row with the key 1, and does not affect that row when rejected [MR-53] [VK-09]', () => {
    const { database, sync } = open();
    writeAsBefore(database, "INSERT INTO tag VALUES (1.0, 'mine'); INSERT INTO bare VALUES (1.0)");
    sync.applyDelivery(testDelivery({ to: 1, groups: [tagGroup('insert', 1n, 'theirs'), bareGroup('insert', 1n)] }));
    expect(tags(database)).toEqual([['1', 'theirs']]);
    expect(bares(database)).toEqual([['1']]);
    expect(sync.counts()).toMatchObject({ pendingCount: 1, rejectedCount: 1 });
    sync.applyDelivery(testDelivery({ from: 1, to: 1, lastAckedSequence: 1, outcomes: [rejected(1)] }));
    expect(tags(database)).toEqual([['1', 'theirs']]);
    expect(bares(database)).toEqual([['1']]);
    expect(database.listRejected()).toHaveLength(1);
    database.close();
  });

  it('is removed when rejected, and the server’s row with the key 1 that it replaced returns [VK-09]', () => {
    const { database, sync } = open();
    sync.applyDelivery(
      testDelivery({ to: 1, groups: [tagGroup('insert', 1n, 'theirs'), tagGroup('insert', 2n, 'beside')] }),
    );
    writeAsBefore(database, 'DELETE FROM tag WHERE id = 1');
    writeAsBefore(database, "INSERT INTO tag VALUES (1.0, 'mine')");
    expect(tags(database)).toEqual([
      ['1.0', 'mine'],
      ['2', 'beside'],
    ]);
    sync.applyDelivery(testDelivery({ from: 1, to: 1, lastAckedSequence: 2, outcomes: [rejected(1), rejected(2)] }));
    expect(tags(database)).toEqual([
      ['1', 'theirs'],
      ['2', 'beside'],
    ]);
    expect(database.listRejected()).toHaveLength(2);
    database.close();
  });

  it('is not changed by the server’s updates and deletes of the key 1 [VK-09]', () => {
    const { database, sync } = open();
    writeAsBefore(database, "INSERT INTO tag VALUES (1.0, 'mine')");
    sync.applyDelivery(testDelivery({ to: 1, groups: [tagGroup('update', 1n, 'theirs')] }));
    expect(tags(database)).toEqual([['1.0', 'mine']]);
    sync.applyDelivery(testDelivery({ from: 1, to: 2, groups: [tagGroup('delete', 1n)] }));
    expect(tags(database)).toEqual([['1.0', 'mine']]);
    expect(database.rowSyncState('tag', [1])).toMatchObject({ stage: 'pending' });
    database.close();
  });

  it('cannot be retried: the changeset stays rejected, and no row is changed', () => {
    const { database, sync } = open();
    writeAsBefore(database, "INSERT INTO tag VALUES (1.0, 'mine')");
    sync.applyDelivery(
      testDelivery({
        to: 1,
        lastAckedSequence: 1,
        outcomes: [rejected(1)],
        groups: [tagGroup('insert', 1n, 'theirs')],
      }),
    );
    expect(() => database.retryRejected(1)).toThrow(RockpoolError);
    expect(tags(database)).toEqual([['1', 'theirs']]);
    expect(database.listRejected()).toHaveLength(1);
    database.close();
  });
});

it('the server’s row with the key 1 is not lost silently beside an acknowledged row with the key 1.0', () => {
  const { database, sync } = open();
  sync.applyDelivery(testDelivery({ to: 1, groups: [tagGroup('insert', 1, 'other')] }));
  expect(tags(database)).toEqual([['1.0', 'other']]);
  expect(() =>
    sync.applyDelivery(testDelivery({ from: 1, to: 2, groups: [tagGroup('insert', 1n, 'theirs')] })),
  ).toThrow(RockpoolError);
  expect(sync.position()).toMatchObject({ cursor: 1 });
  database.close();
});

it('a delivery changes and deletes rows with keys that new rows are no longer allowed to have [VK-10]', () => {
  const { database, sync } = open();
  sync.applyDelivery(testDelivery({ to: 1, groups: [tagGroup('insert', 1n, 'a'), tagGroup('insert', 'x', 'b')] }));
  database.write({
    id: 'w',
    statements: [
      { sql: "UPDATE tag SET note = 'new' WHERE id = 1", params: [] },
      { sql: "DELETE FROM tag WHERE id = 'x'", params: [] },
    ],
  });
  expect(database.changelog.read(1)?.groups).toMatchObject([
    { kind: 'delete', keys: [['x']] },
    { kind: 'update', keys: [[1n]], values: [['new']] },
  ]);
  database.close();
});

it('a change of a key to one that SQLite considers equal, by type or by collation, is rejected [VK-09]', () => {
  const { database, sync } = open();
  sync.applyDelivery(testDelivery({ to: 1, groups: [tagGroup('insert', 1n, 'a')] }));
  expect(() => database.write({ id: 'w', statements: [{ sql: 'UPDATE tag SET id = 1.0', params: [] }] })).toThrow(
    expect.objectContaining({
      code: 'key-invalid',
      fields: { table: 'tag', column: 'id', problem: 'equal to SQLite' },
    }) as Error,
  );
  expect(tags(database)).toEqual([['1', 'a']]);
  // A table as a migration may create it.
  database.connection.exec('DROP TABLE tag; CREATE TABLE tag (id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, note TEXT)');
  const capture = new TransactionCapture(database.connection, [readCaptureTable(database.connection, tag)]);
  database.connection.exec("INSERT INTO tag VALUES ('a', 'x')");
  database.connection.exec('BEGIN');
  capture.begin();
  database.connection.exec("UPDATE tag SET id = 'A'");
  expect(() => capture.take()).toThrow(expect.objectContaining({ code: 'key-invalid' }) as Error);
  capture.close();
  database.connection.exec('ROLLBACK');
  database.close();
});

it('an audit replaces a row with the key 1.0 with the server’s row with the key 1 [VK-10]', () => {
  const { database, sync } = open();
  sync.applyDelivery(
    testDelivery({ to: 1, groups: [tagGroup('insert', 1n, 'theirs'), tagGroup('insert', 2n, 'beside')] }),
  );
  database.connection.exec('UPDATE tag SET id = 1.0 WHERE id = 1');
  const { connection, searchIndexes, tablesById } = database;
  const parts = {
    connection,
    searchIndexes,
    tablesById,
    pending: new PendingIndex(),
    progress: { recordMasked: () => undefined, recordUnmasked: () => undefined } as never,
  };
  const theirs: ChangeGroup = {
    tableId: tag.id,
    kind: 'insert',
    rowCount: 2,
    keys: [[1n, 2n]],
    columnIds: [tag.columns[1]?.id as number],
    values: [['theirs', 'beside']],
  };
  expect(repairRows(parts, tag, 1, { tableId: tag.id, ranges: [0] } as never, theirs).rowCount).toBe(2);
  expect(tags(database)).toEqual([
    ['1', 'theirs'],
    ['2', 'beside'],
  ]);
  database.close();
});
