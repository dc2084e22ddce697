import type { Delivery } from '@rockpool/shared';
import { SimulatedDisk } from '@rockpool/vfs-opfs/testing';
import { expect, it } from 'vitest';
import { lookupKey } from '../../rpc/lookup-key.ts';
import type { OpenDatabase } from '../database/open-database.ts';
import { admitted, testDelivery, testGroup, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';
import { account, openInMemory, openStored } from '../../../testing/worker/test-database.ts';

const insert = (id: string, name: string): Delivery['groups'][number] => testGroup('insert', account, [{ id, name }]);

let requests = 0;

function write(database: OpenDatabase, sql: string): void {
  database.write({ id: `t${++requests}`, statements: [{ sql, params: [] }] });
}

/** Writes four changesets, whose outcomes are in DELIVERIES. */
function writePending(database: OpenDatabase): void {
  write(database, "INSERT INTO account (id, name) VALUES ('mine', 'Mine')");
  write(database, "INSERT INTO account (id, name) VALUES ('refused', 'Refused')");
  write(database, "UPDATE account SET amount = 1 WHERE id = 'mine'");
  write(database, "INSERT INTO account (id, name) VALUES ('late', 'Taken')");
}

/**
 * The same rows change again and again. The last pending changeset violates a constraint after the second delivery, and
 * fits again after the third.
 */
const DELIVERIES: readonly Delivery[] = [
  testDelivery({
    to: 2,
    lastAckedSequence: 2,
    outcomes: [...admitted(1, 1), { kind: 'rejected', sequence: 2, code: 'constraint-check', fields: {} }],
    groups: [insert('x', 'X'), insert('y', 'Y')],
  }),
  testDelivery({
    from: 2,
    to: 4,
    lastAckedSequence: 3,
    outcomes: admitted(3, 3),
    groups: [testGroup('delete', account, [{ id: 'x' }]), insert('z', 'Taken')],
  }),
  testDelivery({
    from: 4,
    to: 6,
    lastAckedSequence: 3,
    groups: [insert('x', 'X again'), testGroup('update', account, [{ id: 'z', name: 'Free' }])],
  }),
];

const TABLES = ['account', 'rockpool_base', 'rockpool_parked', 'rockpool_decided'];

function stateOf(database: OpenDatabase): unknown {
  return [
    database.meta.cursor,
    ...TABLES.map((table) => database.connection.rows(`SELECT * FROM ${table} ORDER BY 1, 2`)),
  ];
}

/** The state after the first deliveries, applied one by one. */
function stateAfter(count: number): unknown {
  const database = openInMemory();
  const sync = testSync(database);
  sync.greet(testWelcome());
  writePending(database);
  for (const delivery of DELIVERIES.slice(0, count)) sync.applyDelivery(delivery);
  const state = stateOf(database);
  database.close();
  return state;
}

it('deliveries applied together leave the same rows, outcomes and cursor as one by one', () => {
  const database = openInMemory();
  const sync = testSync(database);
  sync.greet(testWelcome());
  writePending(database);
  sync.applyDeliveries(DELIVERIES);
  expect(stateOf(database)).toEqual(stateAfter(DELIVERIES.length));
  expect(database.connection.rows('SELECT id, name FROM account ORDER BY id')).toEqual([
    ['late', 'Taken'],
    ['mine', 'Mine'],
    ['x', 'X again'],
    ['y', 'Y'],
    ['z', 'Free'],
  ]);
  expect(sync.counts()).toEqual({ pendingCount: 1, rejectedCount: 1 });
  database.close();
});

it('deliveries applied together are reported once, with all their known changes', () => {
  const database = openInMemory();
  const reported: unknown[] = [];
  const sync = testSync(
    database,
    () => 0,
    (touched) => reported.push(touched),
  );
  sync.greet(testWelcome());
  const update = testGroup('update', account, [{ id: 'a', amount: 5n }]);
  sync.applyDelivery(testDelivery({ to: 1, groups: [insert('a', 'A'), insert('b', 'B')] }));
  reported.length = 0;
  sync.applyDeliveries([
    testDelivery({ from: 1, to: 2, groups: [update] }),
    testDelivery({ from: 2, to: 3, groups: [testGroup('update', account, [{ id: 'b', amount: 6n }])] }),
  ]);
  expect(reported).toMatchObject([
    {
      tables: ['account'],
      changes: [{ keysByColumn: { id: [lookupKey('a')] } }, { keysByColumn: { id: [lookupKey('b')] } }],
    },
  ]);
  // The names swap, so rows are removed and inserted again. Such changes cannot be described.
  const swap = testGroup('update', account, [
    { id: 'a', name: 'B' },
    { id: 'b', name: 'A' },
  ]);
  sync.applyDeliveries([
    testDelivery({ from: 3, to: 4, groups: [update] }),
    testDelivery({ from: 4, to: 5, groups: [swap] }),
  ]);
  expect(reported.at(-1)).toEqual({ tables: ['account'], changes: [] });
  database.close();
});

it('a delivery that does not fit rolls back the earlier deliveries in its transaction, and leaves the outbox unchanged for later ones', () => {
  const database = openInMemory();
  const sync = testSync(database);
  sync.greet(testWelcome());
  writePending(database);
  const before = stateOf(database);
  const ahead = testDelivery({ from: 50, to: 51 });
  expect(() => sync.applyDeliveries([...DELIVERIES, ahead])).toThrow(
    expect.objectContaining({ code: 'frame-unexpected' }),
  );
  expect(stateOf(database)).toEqual(before);
  for (const delivery of DELIVERIES) sync.applyDelivery(delivery);
  expect(stateOf(database)).toEqual(stateAfter(DELIVERIES.length));
  database.close();
});

it('a worker killed at any storage call of deliveries applied together has stored all of them or none', async () => {
  const states = [stateAfter(0), stateAfter(DELIVERIES.length)];
  const found = [0, 0];
  for (let killAt = 0; found[1] === 0; killAt++) {
    const disk = new SimulatedDisk();
    const first = await openStored(disk.medium());
    testSync(first.database).greet(testWelcome());
    writePending(first.database);
    await first.close();

    const worker = disk.medium();
    const second = await openStored(worker);
    const sync = testSync(second.database);
    sync.greet(testWelcome());
    let calls = 0;
    disk.observer = () => {
      if (calls++ < killAt) return;
      worker.kill();
      throw new Error('killed');
    };
    let isKilled = false;
    try {
      sync.applyDeliveries(DELIVERIES);
    } catch {
      isKilled = true;
    }
    disk.observer = undefined;
    worker.kill();

    const third = await openStored(disk.medium());
    const after = states.map((state) => JSON.stringify(state)).indexOf(JSON.stringify(stateOf(third.database)));
    expect(after, `killed at call ${killAt}`).toBeGreaterThanOrEqual(0);
    // A call that was killed may nevertheless have stored the deliveries.
    if (!isKilled) expect(after).toBe(1);
    found[after]!++;
    const again = testSync(third.database);
    again.greet(testWelcome());
    // The server sends the deliveries after the stored cursor.
    for (const delivery of DELIVERIES) if (delivery.to > third.database.meta.cursor) again.applyDelivery(delivery);
    expect(stateOf(third.database)).toEqual(states[1]);
    await third.close();
  }
  expect(found[0]).toBeGreaterThan(0);
});
