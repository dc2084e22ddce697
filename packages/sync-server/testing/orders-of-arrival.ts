import { expect } from 'vitest';
import { LiveDatabase } from '../src/database/live-database.ts';
import { openDatabaseFile } from '../src/store/database-file.ts';
import type { Change } from './changeset.ts';
import { DirectSession, untilCommitted } from './direct-session.ts';
import { Replica } from './replica.ts';
import { TEST_SCHEMA } from './test-schema.ts';

const NOW_MS = 1_700_000_000_000;

/** One author's changes. */
export interface Written {
  readonly changes: readonly Change[];
  /** False if the author has not seen the start either. */
  readonly sawStart?: boolean;
  readonly ageMs?: number;
}

/** All changes after `start` are concurrent. `order` is the order of arrival. */
async function rowsAfter(
  start: readonly Change[],
  changesets: readonly Written[],
  order: readonly number[],
): Promise<unknown> {
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
      session.push(site.lastAckedSequence + 1, site.changelog.length, NOW_MS);
      await untilCommitted();
    };
    const [first] = sessions as [DirectSession];
    first.replica.write(start, 1000);
    await push(first);
    const write = (saw: boolean): void =>
      sessions.forEach(({ replica }, who) => {
        const { changes, sawStart = true, ageMs = 0 } = changesets[who] as Written;
        if (sawStart === saw) replica.write(changes, ageMs);
      });
    write(false);
    for (const session of sessions) session.applyAll();
    write(true);
    for (const who of order) await push(sessions[who] as DirectSession);
    for (const session of sessions) session.applyAll();
    const outcomes = sessions.map(({ replica }) => replica.outcomes.map(({ kind }) => kind));
    const all = (sql: string): unknown => database.file.sql.all(sql);
    return [
      outcomes,
      ...['accounts', 'cards', 'comments', 'entries', 'memos', 'notes', 'replies', 'splits', 'stickies'].map((name) =>
        all(`SELECT * FROM ${name} ORDER BY id`),
      ),
      all(
        "SELECT DISTINCT row_key, column_name, lost_value FROM rockpool_conflict WHERE table_name = 'memos' AND column_name IN ('account_id', 'note_id') AND lost_value IS NOT NULL ORDER BY 1, 2, 3",
      ),
    ];
  } finally {
    void database.close();
  }
}

const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
];

/**
 * Expects the same outcomes, rows and lost references of three changesets in every order of arrival, and returns them.
 */
export async function expectOneEnd(start: readonly Change[], changesets: readonly Written[]): Promise<unknown> {
  const expected = await rowsAfter(start, changesets, ORDERS[0] ?? []);
  for (const order of ORDERS.slice(1))
    expect(await rowsAfter(start, changesets, order), `order ${order.join()}`).toEqual(expected);
  return expected;
}
