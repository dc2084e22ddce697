import {
  buildSchema,
  CONFLICT_TABLE,
  DEFAULT_DOCUMENT_RULE,
  quoteName,
  type CellValue,
  type MergeRule,
} from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { WriteOutcome } from '../../rpc/write-request.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const schema = buildSchema([
  testTable(
    'page',
    {
      id: 'text not null',
      title: 'text',
      hits: 'integer not null default 0',
      amount: 'integer',
      currency: 'text',
      note: "text not null default 'none'",
    },
    {
      merge: { deleteRule: 'delete-wins', counters: ['hits'], groups: [['amount', 'currency']], documents: [] },
    },
  ),
  testTable(
    'paper',
    { id: 'text not null', content: 'text', title: 'text' },
    {
      merge: {
        deleteRule: 'delete-wins',
        counters: [],
        groups: [],
        documents: [{ column: 'content', ...DEFAULT_DOCUMENT_RULE }],
      },
    },
  ),
  testTable('tag', { page_id: 'text not null', name: 'text not null' }, { primaryKey: ['page_id', 'name'] }),
  testTable('room', { house: 'text not null', number: 'integer not null' }, { primaryKey: ['house', 'number'] }),
  testTable(
    'guest',
    { id: 'text not null', house: 'text', number: 'integer', note: 'text' },
    {
      foreignKeys: [
        {
          columns: ['house', 'number'],
          foreignTable: 'room',
          foreignColumns: ['house', 'number'],
          onDelete: 'set null',
          onUpdate: 'no action',
        },
      ],
    },
  ),
  testTable(
    'slot',
    { month: 'text not null', number: 'integer not null', tag: 'blob not null', value: 'real', must: 'text not null' },
    { primaryKey: ['month', 'number', 'tag'] },
  ),
]);

let requests = 0;

function open(): OpenDatabase {
  const database = openInMemory({ schema });
  write(database, "INSERT INTO page (id, title, amount, currency) VALUES ('a', 'now', 2, 'USD')");
  return database;
}

function write(database: OpenDatabase, sql: string): void {
  database.write({ id: `c${++requests}`, statements: [{ sql, params: [] }] });
}

function restore(database: OpenDatabase, conflictId: string, id = `c${++requests}`): WriteOutcome {
  return database.write({ id, statements: [], action: { kind: 'restore-conflict', conflictId } });
}

/** Adds an entry to the conflict log, as a delivery does. */
function addConflict(
  database: OpenDatabase,
  id: string,
  rule: MergeRule,
  column: string | null,
  value: CellValue,
  row: { table?: string; key?: string; watermark?: bigint; path?: string } = {},
): void {
  const { table = 'page', key = '["a"]', watermark = 7n, path = null } = row;
  const cells: Record<string, CellValue> = {
    id,
    table_name: table,
    row_key: key,
    column_name: column,
    rule,
    lost_value: value,
    watermark,
    path,
  };
  const names = CONFLICT_TABLE.columns.map(({ name }) => name);
  const statement = database.connection.prepare(
    `INSERT INTO rockpool_conflict (${names.map(quoteName).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  statement.runCells(
    ...names.map(
      (name) =>
        cells[name] ??
        (name.endsWith('_ms') ? 0n : name === 'column_name' || name === 'path' || name.endsWith('_value') ? null : ''),
    ),
  );
  statement.release();
}

const pages = (database: OpenDatabase): unknown[][] =>
  database.connection.rows('SELECT id, title, hits, amount, currency, note FROM page ORDER BY id');
const notRestorable = (problem: string): unknown =>
  expect.objectContaining({ code: 'conflict-not-restorable', fields: expect.objectContaining({ problem }) as unknown });

describe('restoring a conflict', () => {
  it('writes a lost value to its cell as a new edit, once [MR-75]', () => {
    const database = open();
    addConflict(database, '1', 'lww', 'title', 'before');
    addConflict(database, '2', 'lww', 'note', 'not asked for');
    expect(restore(database, '1', 'same')).toMatchObject({ sequence: 2, touchedTables: ['page'], repeated: false });
    expect(restore(database, '1', 'same').repeated).toBe(true);
    expect(pages(database)).toEqual([['a', 'before', 0, 2, 'USD', 'none']]);
    expect(database.changelog.read(2)?.groups).toMatchObject([{ kind: 'update', keys: [['a']], values: [['before']] }]);
    expect(database.changelog.head().sequence).toBe(2);
    database.close();
  });

  it('restores the other columns of its group', () => {
    const database = open();
    addConflict(database, '1', 'lww', 'amount', 5n);
    addConflict(database, '2', 'lww', 'currency', 'EUR');
    addConflict(database, '3', 'lww', 'currency', 'of another time', { watermark: 8n });
    restore(database, '1');
    expect(pages(database)).toEqual([['a', 'now', 0, 5, 'EUR', 'none']]);
    database.close();
  });

  it('restores a deleted row with all values of the conflict log, and defaults for other columns [MR-75]', () => {
    const database = open();
    write(database, "DELETE FROM page WHERE id = 'a'");
    addConflict(database, '1', 'delete-wins', 'title', 'edited');
    addConflict(database, '2', 'delete-wins', 'amount', null);
    addConflict(database, '3', 'delete-wins', 'hits', 3n);
    restore(database, '1');
    expect(pages(database)).toEqual([['a', 'edited', 0, null, null, 'none']]);
    // Now the row exists again, so the value is written to it.
    write(database, "UPDATE page SET title = 'newer', note = 'kept'");
    restore(database, '2');
    expect(pages(database)).toEqual([['a', 'edited', 0, null, null, 'kept']]);
    database.close();
  });

  it('restores a row with only key columns', () => {
    const database = open();
    addConflict(database, '1', 'cascade', null, null, { table: 'tag', key: '["a","red"]' });
    restore(database, '1');
    expect(database.connection.rows('SELECT * FROM tag')).toEqual([['a', 'red']]);
    expect(database.changelog.read(2)?.groups).toMatchObject([{ kind: 'insert', keys: [['a'], ['red']] }]);
    database.close();
  });

  it('restores a reference with all columns of its foreign key, once its parent is back [MR-75]', () => {
    const database = open();
    write(database, "INSERT INTO guest (id) VALUES ('a')");
    for (const [at, column, value] of [['1', 'house', 'h'] as const, ['2', 'number', 3n] as const])
      addConflict(database, at, 'set-null', column, value, { table: 'guest' });
    // The reference had won against another one.
    addConflict(database, '3', 'lww', 'number', 4n, { table: 'guest' });
    expect(() => restore(database, '1')).toThrow(expect.objectContaining({ code: 'constraint-foreign-key' }));
    write(database, "INSERT INTO room VALUES ('h', 3)");
    restore(database, '1');
    expect(database.connection.rows('SELECT house, number FROM guest')).toEqual([['h', 3]]);
    database.close();
  });

  it('writes a lost value of a document to the same place in the current document [MR-75]', () => {
    const database = open();
    write(
      database,
      `INSERT INTO paper (id, content) VALUES ('a', '{"items":[{"id":"w","n":1},{"id":"x","n":2}],"title":"now"}')`,
    );
    const lost = { table: 'paper' };
    addConflict(database, '1', 'lww', 'content', '"before"', { ...lost, path: '["title"]' });
    addConflict(database, '2', 'lww', 'content', '3', { ...lost, path: '["items",{"id":"x"},"n"]' });
    addConflict(database, '3', 'lww', 'content', '{"id":"y"}', { ...lost, path: '["items",{"id":"y"}]' });
    addConflict(database, '4', 'lww', 'content', '4', { ...lost, path: '["items",{"id":"gone"},"n"]' });
    addConflict(database, '5', 'lww', 'content', 'null', { ...lost, path: '["added"]' });
    for (const id of ['1', '2', '3', '5']) restore(database, id);
    expect(() => restore(database, '4')).toThrow(notRestorable('row-gone'));
    expect(database.connection.rows('SELECT content FROM paper')).toEqual([
      ['{"added":null,"items":[{"id":"w","n":1},{"id":"x","n":3},{"id":"y"}],"title":"before"}'],
    ]);
    database.close();
  });

  it('does not write to an element without a name, whose index may have changed [MR-75]', () => {
    const database = open();
    write(database, `INSERT INTO paper (id, content) VALUES ('a', '{"rows":[{"n":1},{"n":2}]}')`);
    addConflict(database, '1', 'lww', 'content', '3', { table: 'paper', path: '["rows",1,"n"]' });
    write(database, `UPDATE paper SET content = '{"rows":[{"n":0},{"n":1},{"n":2}]}'`);
    expect(() => restore(database, '1')).toThrow(notRestorable('unnamed-element'));
    expect(database.connection.rows('SELECT content FROM paper')).toEqual([['{"rows":[{"n":0},{"n":1},{"n":2}]}']]);
    database.close();
  });

  it('does not write to a document for a lost edit without a value [MR-30]', () => {
    const database = open();
    write(database, `INSERT INTO paper (id, content) VALUES ('a', '{"stands":1}')`);
    const lostEdit = { table: 'paper', path: '[]' };
    addConflict(database, '1', 'lww', 'content', null, lostEdit);
    addConflict(database, '2', 'delete-wins', 'content', null, { ...lostEdit, watermark: 8n });
    expect(() => restore(database, '1')).toThrow(notRestorable('row-gone'));
    expect(() => restore(database, '2')).toThrow(notRestorable('row-gone'));
    // The earlier value also stays when another value of the same deleted row is restored.
    addConflict(database, '3', 'delete-wins', 'title', 'before', { table: 'paper', watermark: 8n });
    restore(database, '3');
    expect(database.connection.rows('SELECT content, title FROM paper')).toEqual([['{"stands":1}', 'before']]);
    database.close();
  });

  it('deletes a row whose delete lost to an update [MR-75]', () => {
    const database = open();
    addConflict(database, '1', 'update-wins', null, null);
    restore(database, '1');
    expect(pages(database)).toEqual([]);
    expect(() => restore(database, '1')).toThrow(notRestorable('row-gone'));
    database.close();
  });

  it('finds rows by keys of every type', () => {
    const database = open();
    write(database, "INSERT INTO slot VALUES ('m', 9007199254740993, x'0aff', 1.0, 'x')");
    addConflict(database, '1', 'lww', 'value', 2.5, { table: 'slot', key: '["m","9007199254740993","0aff"]' });
    restore(database, '1');
    expect(database.connection.rows('SELECT value FROM slot')).toEqual([[2.5]]);
    database.close();
  });

  it('reports why an entry is not restorable [MR-75] [MR-77]', () => {
    const database = open();
    expect(() => restore(database, 'no such entry')).toThrow(notRestorable('unknown'));
    addConflict(database, '1', 'lww', 'title', 'x', { table: 'gone' });
    addConflict(database, '2', 'lww', 'dropped', 'x');
    addConflict(database, '3', 'lww', 'title', 'x', { key: '["nobody"]' });
    addConflict(database, '4', 'one-insert-wins', 'hits', 4n);
    addConflict(database, '5', 'delete-wins', 'value', 2.5, { table: 'slot', key: '["m","1","00"]' });
    expect(() => restore(database, '1')).toThrow(notRestorable('schema'));
    expect(() => restore(database, '2')).toThrow(notRestorable('schema'));
    expect(() => restore(database, '3')).toThrow(notRestorable('row-gone'));
    expect(() => restore(database, '4')).toThrow(notRestorable('counter'));
    expect(() => restore(database, '5')).toThrow(notRestorable('incomplete'));
    expect(database.changelog.head().sequence).toBe(1);
    database.close();
  });
});
