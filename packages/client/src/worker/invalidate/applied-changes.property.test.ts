import { buildSchema, RockpoolError, type CellValue, type ChangeGroup } from '@rockpool/shared';
import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { mayAffect, type TouchedTables } from '../../rpc/query-dependencies.ts';
import { decodeRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import { AMOUNT, ID, QUERIES, query, SEED, WRITES } from '../../../testing/worker/query-arbitraries.ts';
import { admitted, testDelivery, testGroup, testSync } from '../../../testing/worker/sync-steps.ts';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { account, entry, openInMemory, priced } from '../../../testing/worker/test-database.ts';

const cell = (value: number | string | null): CellValue => (typeof value === 'number' ? BigInt(value) : value);

/** Rows that a server may deliver, and rows that its constraints exclude, which are rejected. */
const GROUPS: Arbitrary<ChangeGroup> = fc.oneof(
  fc
    .tuple(ID, ID, AMOUNT)
    .map(([id, name, amount]) => testGroup('insert', account, [{ id, name, amount: cell(amount) }])),
  fc.tuple(ID, AMOUNT).map(([id, amount]) => testGroup('update', account, [{ id, amount: cell(amount) }])),
  fc.tuple(ID, ID).map(([id, name]) => testGroup('update', account, [{ id, name }])),
  // Servers may still have values from before columns enforced their types.
  fc
    .tuple(ID, fc.constantFrom<CellValue>('0x2', '10', ' 2', '', 'a', 2, null))
    .map(([id, rate]) => testGroup('update', account, [{ id, rate }])),
  fc.tuple(ID, ID, ID).map(([id, account_id, note]) => testGroup('insert', entry, [{ id, account_id, note }])),
  fc.tuple(ID, ID).map(([id, account_id]) => testGroup('update', entry, [{ id, account_id }])),
  fc.tuple(ID, ID).map(([id, note]) => testGroup('update', entry, [{ id, note }])),
  ID.map((id) => testGroup('delete', entry, [{ id }])),
  fc.tuple(ID, AMOUNT).map(([id, net]) => testGroup('insert', priced, [{ id, net: cell(net) }])),
);

/**
 * Errors of local writes that earlier deliveries cause, although every write says OR IGNORE. A changed key writes the
 * whole row again, and a delivery may have stored a value of a different type there. A delivery may also store
 * references to a parent that has not arrived; if a parent takes that key and its own children follow it, SQLite counts
 * the waiting references as violations.
 */
const REJECTIONS_AFTER_DELIVERIES: ReadonlySet<string> = new Set(['constraint-data-type', 'constraint-foreign-key']);

interface Step {
  /** The groups of each delivery. All deliveries of a step are applied together. */
  readonly deliveries: readonly (readonly ChangeGroup[])[];
  /** Local writes before the deliveries. */
  readonly written: readonly SqlStatement[];
  /** Whether the first delivery admits all changesets so far. */
  readonly isAdmitted: boolean;
}

const STEPS: Arbitrary<Step> = fc.record({
  deliveries: fc.array(fc.array(GROUPS, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  written: fc.array(WRITES, { maxLength: 1 }),
  isAdmitted: fc.boolean(),
});

it('the reported changes of deliveries affect every query whose result they change', () => {
  const numRuns = atLevel({ test: 30, verify: 150 });
  let skipped = 0;
  fc.assert(
    fc.property(
      fc.array(QUERIES, { minLength: 1, maxLength: 8 }),
      fc.array(STEPS, { maxLength: 10 }),
      (queries, steps) => {
        const database = openInMemory();
        let touched: TouchedTables = { tables: [], changes: [] };
        const sync = testSync(
          database,
          () => 0,
          (now) => (touched = now),
        );
        database.write({ id: 'seed', statements: SEED });
        sync.applyDelivery(testDelivery({ to: 1, lastAckedSequence: 1, outcomes: admitted(1, 1) }));
        const resultOf = ({ sql, params }: SqlStatement): unknown => {
          const rows = decodeRows(database.query(sql, params)).map((row) => JSON.stringify(row));
          return sql.includes('ORDER BY') ? rows : rows.sort();
        };
        let cursor = 1;
        let lastAckedSequence = 1;
        for (const [number, { deliveries, written, isAdmitted }] of steps.entries()) {
          try {
            if (written.length > 0) database.write({ id: String(number), statements: written });
          } catch (thrown) {
            if (!(thrown instanceof RockpoolError) || !REJECTIONS_AFTER_DELIVERIES.has(thrown.code)) throw thrown;
          }
          const last = isAdmitted ? database.changelog.head().sequence : lastAckedSequence;
          const before = queries.map((one) => ({
            one,
            dependencies: database.dependencies(one),
            result: resultOf(one),
          }));
          touched = { tables: [], changes: [] };
          try {
            sync.applyDeliveries(
              deliveries.map((groups, index) =>
                testDelivery({
                  from: cursor + index,
                  to: cursor + index + 1,
                  lastAckedSequence: last,
                  outcomes: index === 0 ? admitted(lastAckedSequence + 1, last) : [],
                  groups,
                }),
              ),
            );
            cursor += deliveries.length;
            lastAckedSequence = last;
          } catch (thrown) {
            if (!(thrown instanceof RockpoolError)) throw thrown;
          }
          for (const { one, dependencies, result } of before) {
            if (mayAffect(touched, dependencies)) continue;
            skipped++;
            expect(resultOf(one), one.sql).toEqual(result);
          }
        }
        database.close();
      },
    ),
    { numRuns },
  );
  expect(skipped).toBeGreaterThan(numRuns);
});

it.each([
  ['a row', []],
  ['a row beside a pending write', ["INSERT INTO item (id, colour) VALUES ('mine', 'blue')"]],
])('the reported changes of %s without a column affect a query by the default of the column', (_, written) => {
  const item = testTable(
    'item',
    { id: 'text not null', colour: "text default 'red'" },
    { indexes: [{ name: 'item_colour', unique: false, expressions: ['"colour"'], whereSql: null }] },
  );
  const database = openInMemory({ schema: buildSchema([item]) });
  let touched: TouchedTables = { tables: [], changes: [] };
  const sync = testSync(
    database,
    () => 0,
    (now) => (touched = now),
  );
  for (const sql of written) database.write({ id: sql, statements: [query(sql)] });
  const red = query('SELECT id FROM item WHERE colour = ?', 'red');
  const dependencies = database.dependencies(red);
  expect(dependencies).toMatchObject([{ lookups: [{ column: 'colour', key: 'text:red' }] }]);
  const group: ChangeGroup = {
    tableId: item.id,
    kind: 'insert',
    rowCount: 1,
    keys: [['theirs']],
    columnIds: [],
    values: [],
  };
  sync.applyDelivery(testDelivery({ to: 1, groups: [group] }));
  expect(decodeRows(database.query(red.sql, red.params))).toEqual([{ id: 'theirs' }]);
  expect(mayAffect(touched, dependencies)).toBe(true);
  database.close();
});

it.each([
  ['', []],
  [' beside a pending write', ["INSERT INTO priced (id, net) VALUES ('mine', 1)"]],
])('the reported changes of an update%s affect a query of a generated column', (_, written) => {
  const database = openInMemory();
  let touched: TouchedTables = { tables: [], changes: [] };
  const sync = testSync(
    database,
    () => 0,
    (now) => (touched = now),
  );
  sync.applyDelivery(testDelivery({ to: 1, groups: [testGroup('insert', priced, [{ id: 'theirs', net: 1n }])] }));
  for (const sql of written) database.write({ id: sql, statements: [query(sql)] });
  const highest = query('SELECT max(gross) AS highest FROM priced');
  const dependencies = database.dependencies(highest);
  sync.applyDelivery(
    testDelivery({ from: 1, to: 2, groups: [testGroup('update', priced, [{ id: 'theirs', net: 2n }])] }),
  );
  expect(decodeRows(database.query(highest.sql, highest.params))).toEqual([{ highest: 4 }]);
  expect(mayAffect(touched, dependencies)).toBe(true);
  database.close();
});

it('the reported changes of a delivery do not affect a query whose rows it does not change', () => {
  const database = openInMemory();
  let touched: TouchedTables = { tables: [], changes: [] };
  const sync = testSync(
    database,
    () => 0,
    (now) => (touched = now),
  );
  sync.applyDelivery(
    testDelivery({
      to: 1,
      groups: [
        testGroup('insert', account, [{ id: 'x' }, { id: 'y' }]),
        testGroup('insert', entry, [
          { id: 'a', account_id: 'x' },
          { id: 'b', account_id: 'y' },
        ]),
      ],
    }),
  );
  const ofX = database.dependencies(query('SELECT note FROM entry WHERE account_id = ?', 'x'));
  const ofY = database.dependencies(query('SELECT note FROM entry WHERE account_id = ?', 'y'));
  const affected = (): boolean[] => [ofX, ofY].map((one) => mayAffect(touched, one));
  sync.applyDelivery(testDelivery({ from: 1, to: 2, groups: [testGroup('update', entry, [{ id: 'b', note: 'n' }])] }));
  expect(affected()).toEqual([false, true]);
  sync.applyDelivery(
    testDelivery({ from: 2, to: 3, groups: [testGroup('update', entry, [{ id: 'b', account_id: 'x' }])] }),
  );
  expect(affected()).toEqual([true, true]);
  sync.applyDelivery(testDelivery({ from: 3, to: 4, groups: [testGroup('delete', entry, [{ id: 'b' }])] }));
  expect(affected()).toEqual([true, false]);
  database.write({ id: 'mine', statements: [query("INSERT INTO entry (id, account_id) VALUES ('c', 'y')")] });
  sync.applyDelivery(
    testDelivery({
      from: 4,
      to: 5,
      groups: [testGroup('update', entry, [{ id: 'a', note: 'under a pending write of another row' }])],
    }),
  );
  expect(affected()).toEqual([true, false]);
});
