import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { openInMemory } from '../testing/test-database.ts';

const reason = new RockpoolError('constraint-unique', { table: 'account', columns: 'name' }).toData();

let requests = 0;

function write(database: OpenDatabase, ...statements: readonly string[]): void {
  database.write({ id: `p${++requests}`, statements: statements.map((sql) => ({ sql, params: [] })) });
}

/** A changeset whose rows the apply has taken out again. */
function withParked(): OpenDatabase {
  const database = openInMemory();
  write(database, "INSERT INTO account (id, name) VALUES ('old', 'x')");
  write(database, "INSERT INTO account (id, name) VALUES ('a', 'Cash')", "UPDATE account SET amount = 7 WHERE id = 'old'");
  database.connection.exec("DELETE FROM account WHERE id = 'a'; UPDATE account SET amount = NULL");
  database.parked.park(2, reason, 1000);
  return database;
}

describe('a parked changeset', () => {
  it('is listed with its reason and its rows', () => {
    const database = withParked();
    expect(database.parked.count()).toBe(1);
    const [parked] = database.parked.list();
    expect(parked?.error).toEqual(reason);
    expect(parked?.parkedMs).toBe(1000);
    expect(parked?.changeset.groups.map(({ kind, keys }) => [kind, keys])).toEqual([
      ['update', [['old']]],
      ['insert', [['a']]],
    ]);
    database.parked.park(2, new RockpoolError('internal').toData(), 2000);
    expect(database.parked.list()[0]?.error.code).toBe('constraint-unique');
    database.close();
  });

  it('becomes a new changeset when it is tried again', () => {
    const database = withParked();
    expect(database.retryParked(2)).toMatchObject({ sequence: 3, touchedTables: ['account'] });
    expect(database.connection.rows('SELECT id, name, amount FROM account ORDER BY id')).toEqual([
      ['a', 'Cash', null],
      ['old', 'x', 7],
    ]);
    expect(database.changelog.read(3)?.groups).toEqual(database.changelog.read(2)?.groups);
    expect(database.parked.count()).toBe(0);
    database.close();
  });

  it('stays parked when it still does not fit', () => {
    const database = withParked();
    write(database, "INSERT INTO account (id, name) VALUES ('b', 'Cash')");
    expect(() => database.retryParked(2)).toThrow(expect.objectContaining({ code: 'constraint-unique' }));
    expect(database.parked.count()).toBe(1);
    expect(database.changelog.head().sequence).toBe(3);
    expect(database.connection.rows('SELECT id FROM account ORDER BY id')).toEqual([['b'], ['old']]);
    expect(() => database.retryParked(1)).toThrow(expect.objectContaining({ code: 'changeset-not-parked' }));
    database.close();
  });

  it('can be dropped for good', () => {
    const database = withParked();
    database.parked.close(2);
    expect(database.parked.list()).toEqual([]);
    database.close();
  });
});
