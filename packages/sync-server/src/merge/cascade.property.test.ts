import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveDatabase } from '../fanout/live-database.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { insert, remove, update, type Change } from '../testing/changeset.ts';
import { committed } from '../testing/committed.ts';
import { DirectSession } from '../testing/direct-session.ts';
import { Replica } from '../testing/replica.ts';
import { TEST_SCHEMA } from '../testing/test-schema.ts';

const NOW_MS = 1_700_000_000_000;

/** Accounts x and y; entries e below x and f below y; a split below e. Everybody has seen it. */
const START: readonly Change[] = [
  insert('accounts', 'x', { name: 'x' }),
  insert('accounts', 'y', { name: 'y' }),
  insert('entries', 'e', { account_id: 'x', amount: 1n }),
  insert('entries', 'f', { account_id: 'y', amount: 1n }),
  insert('splits', 's', { entry_id: 'e', share: 1n }),
];

// Of two concurrent moves the order of arrival decides whether the row was ever below the deleted one; so each row has one mover.
// As SQLite's own cascade is captured on the device that deletes: with the children that it has.
const withE = [remove('entries', 'e'), remove('splits', 's')];
const deletes = fc.constantFrom(
  [remove('accounts', 'x'), ...withE],
  [remove('accounts', 'y'), remove('entries', 'f')],
  withE,
  [remove('entries', 'f')],
  [remove('accounts', 'x'), ...withE, remove('accounts', 'y'), remove('entries', 'f')],
);
const written = (author: number): fc.Arbitrary<Change> =>
  fc.oneof(
    fc.tuple(fc.constantFrom('g', 'h'), fc.constantFrom('x', 'y')).map(([key, account_id]) => insert('entries', `${key}${author}`, { account_id, amount: BigInt(author) })),
    fc.tuple(fc.constantFrom('t', 'u'), fc.constantFrom('e', 'f', `g${author}`)).map(([key, entry_id]) => insert('splits', `${key}${author}`, { entry_id })),
    fc.constantFrom('e', 'f').map((key) => update('entries', key, { note: `by ${author}` })),
    author === 0 ? fc.constantFrom('x', 'y').map((account_id) => update('entries', 'f', { account_id })) : fc.constant(update('splits', 's', { entry_id: 'f' })),
  );
const byRow = { minLength: 1, maxLength: 4, selector: (one: Change): string => ('insert' in one ? one.insert : 'update' in one ? one.update : one.delete) + String(one.key[0]) };
const histories = fc.tuple(deletes, fc.uniqueArray(written(0), byRow), fc.uniqueArray(written(1), byRow));

async function rowsAfter(changesets: readonly (readonly Change[])[], order: readonly number[]): Promise<unknown> {
  const database = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
    onFailure: (error) => {
      throw error;
    },
  });
  try {
    const sessions = changesets.map((_, who) => {
      const replica = new Replica();
      replica.site.siteId.fill(who + 1);
      replica.site.nowMs = () => NOW_MS;
      return new DirectSession(database, replica, NOW_MS);
    });
    const push = async (session: DirectSession): Promise<void> => {
      const { site } = session.replica;
      session.push(site.decidedUpTo + 1, site.changelog.length, NOW_MS);
      await committed();
    };
    const [first] = sessions as [DirectSession];
    first.replica.write(START, 1000);
    await push(first);
    for (const session of sessions) session.applyAll();
    sessions.forEach(({ replica }, who) => replica.write(changesets[who] ?? []));
    for (const who of order) await push(sessions[who] as DirectSession);
    for (const session of sessions) session.applyAll();
    const outcomes = sessions.map(({ replica }) => replica.outcomes.map(({ kind }) => kind));
    const all = (sql: string): unknown => database.file.sql.all(sql);
    return [outcomes, all('SELECT * FROM accounts ORDER BY id'), all('SELECT * FROM entries ORDER BY id'), all('SELECT * FROM splits ORDER BY id')];
  } finally {
    database.close();
  }
}

const ORDERS = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

describe('deletes of parents and concurrent writes of their children', () => {
  it('end in the same rows in every order of arrival', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (changesets) => {
        const expected = await rowsAfter(changesets, ORDERS[0] ?? []);
        for (const order of ORDERS.slice(1)) expect(await rowsAfter(changesets, order)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});
