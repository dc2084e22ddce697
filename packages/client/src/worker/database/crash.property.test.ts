import { changesetHash, FIRST_PREVIOUS_HASH, type RockpoolError } from '@rockpool/shared';
import { SimulatedDisk } from '@rockpool/vfs-opfs/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { applyRows } from '../apply/apply-rows.ts';
import { PendingIndex } from '../apply/pending-index.ts';
import { openInMemory, openStored } from '../../../testing/worker/test-database.ts';
import type { OpenDatabase } from './open-database.ts';

const id = fc.constantFrom('a', 'b', 'c', 'd');
const statement = fc.oneof(
  fc
    .tuple(id, fc.integer({ min: 0, max: 9 }))
    .map(([key, n]) => `INSERT OR REPLACE INTO account (id, amount, name) VALUES ('${key}', ${n}, 'n${n}')`),
  fc
    .tuple(id, fc.integer({ min: 0, max: 9 }))
    .map(([key, n]) => `UPDATE OR IGNORE account SET rate = ${n}.5, name = 'n${n}' WHERE id <= '${key}'`),
  fc.tuple(id, id).map(([from, to]) => `UPDATE OR IGNORE account SET id = '${to}' WHERE id = '${from}'`),
  fc
    .tuple(id, id)
    .map(([key, of]) => `INSERT OR REPLACE INTO entry SELECT '${key}', id, 'of ${of}' FROM account WHERE id = '${of}'`),
  id.map((key) => `DELETE FROM account WHERE id = '${key}'`),
  fc
    .tuple(id, fc.integer({ min: 0, max: 9 }))
    .map(([key, n]) => `INSERT OR REPLACE INTO priced (id, net) VALUES ('${key}', ${n})`),
  fc.integer({ min: 1, max: 30 }).map((n) => `UPDATE account SET extra = zeroblob(${n} * 1000)`),
  fc.constant("INSERT INTO draft (text) VALUES ('x')"),
);
const history = fc.array(fc.array(statement, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 12 });

const TABLES = ['account', 'entry', 'priced', 'draft'];

const rowsOf = (database: OpenDatabase, tables: readonly string[] = TABLES): unknown =>
  tables.map((table) => [table, database.connection.rows(`SELECT * FROM ${table} ORDER BY id`)]);

const request = (statements: readonly string[], index: number): Parameters<OpenDatabase['write']>[0] => ({
  id: `request-${index}`,
  statements: statements.map((sql) => ({ sql, params: [] })),
});

/** Checks that sequences have no gaps and that each entry is chained to the one before it. */
function expectIntactChain(database: OpenDatabase): void {
  let hash: Uint8Array = FIRST_PREVIOUS_HASH;
  const changesets = database.outbox.nextPush(0, 1e9)?.changesets ?? [];
  changesets.forEach((changeset, i) => {
    expect(changeset.sequence).toBe(i + 1);
    hash = changesetHash(hash, changeset);
    expect(database.changelog.hashOf(changeset.sequence)).toEqual(hash);
  });
}

it('replaying all changesets on an empty database produces the same synced rows', () => {
  fc.assert(
    fc.property(history, (transactions) => {
      const database = openInMemory();
      transactions.forEach((statements, i) => database.write(request(statements, i)));
      expectIntactChain(database);

      const replica = openInMemory();
      replica.connection.setForeignKeys(false);
      const { connection, tablesById } = replica;
      for (const { groups } of database.changelog.readAfter(0)) {
        connection.exec('BEGIN');
        applyRows({ connection, tablesById, pending: new PendingIndex(), outcomeKinds: new Map(), groups });
        connection.exec('COMMIT');
      }
      const synced = ['account', 'entry', 'priced'];
      expect(rowsOf(replica, synced)).toEqual(rowsOf(database, synced));
      replica.close();
      database.close();
    }),
    { numRuns: atLevel({ test: 15, verify: 100 }) },
  );
});

/** The rows after each write, in a database without faults. */
function statesOf(transactions: readonly (readonly string[])[]): unknown[] {
  const model = openInMemory();
  const states = [rowsOf(model)];
  transactions.forEach((statements, i) => {
    model.write(request(statements, i));
    states.push(rowsOf(model));
  });
  model.close();
  return states;
}

async function emptyDatabase(): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk();
  const { close } = await openStored(disk.medium());
  await close();
  return disk;
}

it('a worker killed at any storage call keeps every write that returned, and no part of any other', async () => {
  let killedWriting = 0;
  const property = () =>
    fc.assert(
      fc.asyncProperty(history, fc.nat({ max: 80 }), async (transactions, killAt) => {
        const disk = await emptyDatabase();
        const worker = disk.medium();
        let calls = 0;
        let acknowledged = 0;
        try {
          const { database } = await openStored(worker);
          disk.observer = () => {
            // The storage write that is interrupted here has stored nothing, or half of its bytes.
            if (calls++ < killAt) return;
            worker.kill();
            throw new Error('killed');
          };
          for (const [i, statements] of transactions.entries()) {
            database.write(request(statements, i));
            acknowledged = i + 1;
          }
        } catch {
          killedWriting++;
        }
        disk.observer = undefined;
        worker.kill();

        const states = statesOf(transactions);
        const { database, close } = await openStored(disk.medium());
        expect([states[acknowledged], states[acknowledged + 1]]).toContainEqual(rowsOf(database));
        expectIntactChain(database);
        expect(database.connection.value('PRAGMA integrity_check')).toBe('ok');
        // A tab that received no response repeats its request, which must not run twice.
        transactions.forEach((statements, i) => database.write(request(statements, i)));
        expect(rowsOf(database)).toEqual(states[transactions.length]);
        await close();
      }),
      { numRuns: atLevel({ test: 20, verify: 80 }) },
    );
  // How many kills hit a write is random, so the test repeats until there are enough.
  for (let round = 0; round < 4 && killedWriting <= 15; round++) await property();
  expect(killedWriting).toBeGreaterThan(15);
});

it('a full disk fails the write with storage-full, keeps all earlier writes, and works again once there is room', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(history, fc.nat({ max: 12 }), async (transactions, fullAt) => {
      const disk = await emptyDatabase();
      const { database, close } = await openStored(disk.medium());
      const states = statesOf(transactions);
      let calls = 0;
      disk.fault = ({ kind }) => (kind !== 'flush' && calls++ >= fullAt ? 'quota' : undefined);
      for (const [i, statements] of transactions.entries()) {
        try {
          database.write(request(statements, i));
        } catch (error) {
          expect((error as RockpoolError).code).toBe('storage-full');
          refused++;
          expect(rowsOf(database)).toEqual(states[i]);
          disk.fault = undefined;
          expect(database.write(request(statements, i)).repeated).toBe(false);
        }
        expect(rowsOf(database)).toEqual(states[i + 1]);
      }
      disk.fault = undefined;
      expectIntactChain(database);
      // The comparison covers the search indexes too.
      expect(database.connection.value('PRAGMA integrity_check')).toBe('ok');
      await close();
    }),
    { numRuns: atLevel({ test: 12, verify: 50 }) },
  );
  expect(refused).toBeGreaterThan(atLevel({ test: 4, verify: 10 }));
});
