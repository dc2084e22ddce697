import type { Client, RowHistory } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { ClientsOfServer, shows } from '#kit/clients-of-server.ts';
import { atLevel } from '#kit/level.ts';
import { until } from '#kit/until.ts';
import fc from 'fast-check';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const entry = sqliteTable('entry', {
  id: text().primaryKey(),
  amount: integer().notNull(),
  note: text(),
  details: text(),
});
const schema = defineSchema(
  { entry },
  { history: [entry], merge: [{ table: entry, documents: [{ column: entry.details, text: ['body'] }] }] },
);
/** The server's rule. */
let mostAmount = 1_000;

const world = new ClientsOfServer({
  schema,
  validate: (_, { changes }) =>
    changes.some(({ after }) => Number(after?.['amount'] ?? 0) > mostAmount) ? 'the amount is too high' : null,
});
beforeEach(async () => {
  mostAmount = 1_000;
  world.nowMs = Date.now();
  await world.start();
});
afterEach(() => world.stop());

const ROWS = 'SELECT * FROM entry ORDER BY id';
const bodyOf = (body: string, more: object = {}): string => JSON.stringify({ body, ...more });

/** Ann and Bob with an entry in two versions, which both have seen. */
async function twoVersions(databaseId = 'budget'): Promise<{ ann: Client; bob: Client; history: RowHistory }> {
  const [ann, bob] = (await Promise.all(
    ['ann', 'bob'].map((principal) => world.open({ principal, databaseId, device: createDevice() })),
  )) as [Client, Client];
  await ann.execute(`INSERT INTO entry VALUES ('e', 1, 'one', '${bodyOf('Monday')}')`).synced;
  await ann.execute(`UPDATE entry SET amount = 2, note = 'two', details = '${bodyOf('Friday', { n: 1 })}'`).synced;
  await shows(bob, 'SELECT amount FROM entry', 2);
  return { ann, bob, history: await ann.history('entry', 'e') };
}

async function syncBoth(...clients: readonly Client[]): Promise<void> {
  for (const client of clients) await client.sync.resume();
  for (const [index, client] of clients.entries())
    await client.execute(`INSERT INTO entry (id, amount) VALUES ('of ${index}', 0)`).synced;
  for (const client of clients) await shows(client, `SELECT count(*) FROM entry WHERE id LIKE 'of %'`, clients.length);
}

type Write = readonly [sql: string, ...params: (string | number | null)[]];

/** A write of Bob that Ann has not seen. */
const concurrent: fc.Arbitrary<Write> = fc.oneof(
  fc.nat(9).map((n): Write => ['UPDATE entry SET amount = ?', n]),
  fc.constantFrom('one', 'two', 'three').map((note): Write => ['UPDATE entry SET note = ?', note]),
  fc
    .constantFrom('Friday', 'on Friday', 'Friday, at noon', '')
    .map((body): Write => ['UPDATE entry SET details = ?', bodyOf(body, { n: 1, m: 2 })]),
  fc.constant<Write>(['UPDATE entry SET details = NULL']),
  fc.constant<Write>(['DELETE FROM entry']),
);

describe('a restore', () => {
  it('merges, loses and wins like a write of the same values', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(concurrent, { minLength: 1, maxLength: 3 }),
        fc.constantFrom<readonly string[] | undefined>(undefined, ['amount'], ['note', 'details']),
        fc.boolean(),
        async (writes, columns, isFirst) => {
          number++;
          const run = async (
            databaseId: string,
            restore: (history: RowHistory, ann: Client) => Promise<void>,
          ): Promise<unknown> => {
            const { ann, bob, history } = await twoVersions(databaseId);
            await bob.sync.pause();
            // The server's clock, from which stamps follow, moves only where the test advances it.
            world.nowMs += 1_000;
            const byBob = async (): Promise<void> => {
              for (const [sql, ...params] of writes) await bob.execute(sql, params);
            };
            if (!isFirst) await byBob();
            await restore(history, ann);
            if (isFirst) {
              await ann.execute("INSERT INTO entry (id, amount) VALUES ('sent', 0)").synced;
              world.nowMs += 1_000;
              await byBob();
            }
            await syncBoth(bob, ann);
            const rows = await ann.query(ROWS);
            expect(await bob.query(ROWS)).toEqual(rows);
            const conflicts = await ann.query(
              'SELECT table_name, column_name, rule, lost_value, won_value, lost_by, won_by, path FROM rockpool_conflict ORDER BY 1, 2, 3, 4, 5, 8',
            );
            return { rows, conflicts };
          };
          const values = { amount: 1, note: 'one', details: bodyOf('Monday') };
          const names = (columns ?? Object.keys(values)) as (keyof typeof values)[];
          const restored = await run(`restored-${number}`, (history) =>
            history.restore(1, columns === undefined ? {} : { columns }),
          );
          const written = await run(`written-${number}`, async (_, ann) => {
            await ann.execute(
              `UPDATE entry SET ${names.map((name) => `${name} = ?`).join(', ')}`,
              names.map((name) => values[name]),
            );
          });
          expect(restored).toEqual(written);
        },
      ),
      { numRuns: atLevel({ test: 2, verify: 25 }) },
    );
  });

  it('with documents is undone and redone, and keeps what others have written in them since', async () => {
    const { ann, bob, history } = await twoVersions();
    const row = async (): Promise<unknown> => (await ann.query(ROWS))[0];
    const [two, one] = [
      { id: 'e', amount: 2, note: 'two', details: bodyOf('Friday', { n: 1 }) },
      { id: 'e', amount: 1, note: 'one', details: bodyOf('Monday') },
    ];
    await history.restore(1);
    expect(await row()).toEqual(one);
    await ann.undo();
    expect(await row()).toEqual(two);
    await ann.redo();
    expect(await row()).toEqual(one);
    await ann.execute("UPDATE entry SET note = 'one'").synced;
    await shows(bob, 'SELECT amount FROM entry', 1);
    await bob.execute('UPDATE entry SET details = ?', [bodyOf('Monday, at noon', { by: 'bob' })]).synced;
    await shows(ann, "SELECT details ->> 'by' FROM entry", 'bob');
    await ann.undo();
    expect(await row()).toEqual({ ...two, details: bodyOf('Friday, at noon', { by: 'bob', n: 1 }) });
    await bob.execute("UPDATE entry SET note = 'mine'").synced;
    await shows(bob, 'SELECT details FROM entry', bodyOf('Friday, at noon', { by: 'bob', n: 1 }));
    expect(await bob.query('SELECT details FROM entry')).toEqual(await ann.query('SELECT details FROM entry'));
  });

  it('of a deleted row with a document is undone and redone', async () => {
    const { ann, history } = await twoVersions();
    await ann.execute('DELETE FROM entry').synced;
    await history.restore(1);
    const restored = await ann.query(ROWS);
    expect(restored).toMatchObject([{ details: bodyOf('Monday') }]);
    await ann.undo();
    expect(await ann.query(ROWS)).toEqual([]);
    await ann.redo();
    expect(await ann.query(ROWS)).toEqual(restored);
    await ann.undo();
    await ann.undo();
    expect(await ann.query(ROWS)).toMatchObject([{ details: bodyOf('Friday', { n: 1 }) }]);
    await ann.undo();
    expect(await ann.query(ROWS)).toEqual(restored);
  });

  it('that is rejected waits for a decision, and changes nothing until then', async () => {
    const { ann, bob, history } = await twoVersions();
    await ann.execute('UPDATE entry SET amount = 0, details = NULL').synced;
    mostAmount = 1;
    await history.restore(2);
    expect(await ann.query('SELECT amount FROM entry')).toEqual([{ amount: 2 }]);
    await until(() => ann.status.current.rejectedCount === 1);
    await shows(ann, 'SELECT amount FROM entry', 0);
    const [rejected] = await ann.rejected.list();
    expect(rejected).toMatchObject({ reason: { code: 'changeset-refused' } });
    await expect(ann.undo()).rejects.toMatchObject({ code: 'undo-refused', fields: { problem: 'rejected' } });
    expect(await bob.query('SELECT amount, details FROM entry')).toEqual([{ amount: 0, details: null }]);
    mostAmount = 2;
    await ann.rejected.retry(rejected?.sequence ?? 0);
    await shows(bob, 'SELECT amount FROM entry', 2);
    expect(await bob.query('SELECT details FROM entry')).toEqual([{ details: bodyOf('Friday', { n: 1 }) }]);
  });

  it('is not undone where others wrote a value in the same part of a document', async () => {
    const { ann, bob, history } = await twoVersions();
    await history.restore(1, { columns: ['details'] });
    await shows(bob, 'SELECT details FROM entry', bodyOf('Monday'));
    await bob.execute('UPDATE entry SET details = ?', [bodyOf('Monday', { n: 5 })]).synced;
    await shows(ann, "SELECT details ->> 'n' FROM entry", 5);
    await expect(ann.undo()).rejects.toMatchObject({ code: 'undo-refused', fields: { problem: 'changed' } });
    expect(await ann.query('SELECT details FROM entry')).toEqual([{ details: bodyOf('Monday', { n: 5 }) }]);
  });

  it('is not undone where others have replaced a document', async () => {
    const { ann, bob, history } = await twoVersions();
    await history.restore(1, { columns: ['details'] });
    await ann.execute("UPDATE entry SET note = 'one'").synced;
    await shows(bob, 'SELECT note FROM entry', 'one');
    await bob.execute('UPDATE entry SET details = NULL').synced;
    await shows(ann, 'SELECT details FROM entry', null);
    await ann.undo();
    await expect(ann.undo()).rejects.toMatchObject({ code: 'undo-refused', fields: { problem: 'changed' } });
    expect(await ann.query('SELECT details FROM entry')).toEqual([{ details: null }]);
    const begin = (): Promise<unknown> => ann.execute(`UPDATE entry SET details = '{"a":1}'`).synced;
    await begin();
    await ann.undo();
    expect(await ann.query('SELECT details FROM entry')).toEqual([{ details: null }]);
    await begin();
    await shows(bob, 'SELECT details FROM entry', '{"a":1}');
    await bob.execute(`UPDATE entry SET details = '{"a":1,"b":2}'`).synced;
    await shows(ann, "SELECT details ->> 'b' FROM entry", 2);
    await expect(ann.undo()).rejects.toMatchObject({ code: 'undo-refused', fields: { problem: 'changed' } });
  });
});
