import fc from 'fast-check';
import { expect } from 'vitest';
import { LiveDatabase } from '../src/database/live-database.ts';
import { openDatabaseFile } from '../src/store/database-file.ts';
import { insert, update, type Change } from './changeset.ts';
import { DirectSession, untilCommitted } from './direct-session.ts';
import { Replica } from './replica.ts';
import { TEST_SCHEMA } from './test-schema.ts';

const NOW_MS = 1_700_000_000_000;
const CHANGESETS = 6;

/** The server rejects some of the changesets, always with the same outcome. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.bigInt(1n, 9n).map((stock) => update('products', 'p', { stock })),
  fc.constantFrom('Cash', 'Bank').chain((name) => fc.uuid().map((id) => insert('accounts', id, { name }))),
);

/**
 * A push of part of the outbox, sent a number of times. Afterwards the connection, with all responses of the server,
 * may be lost.
 */
const request = fc.record({
  from: fc.nat(CHANGESETS),
  count: fc.integer({ min: 1, max: CHANGESETS }),
  times: fc.nat(5),
  isLost: fc.boolean(),
  waits: fc.boolean(),
});

/**
 * Runs histories of a site with pushes that are repeated, split differently, combined, or left without a response.
 * Returns the number of pushes.
 */
export async function repeatPushes(histories: number, seed: number): Promise<number> {
  let pushes = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: CHANGESETS, maxLength: CHANGESETS }),
      fc.array(request, { minLength: 4, maxLength: 12 }),
      async (changes, requests) => {
        const once = await decidedBy(changes, []);
        const often = await decidedBy(changes, requests, () => pushes++);
        expect(often).toEqual(once);
      },
    ),
    { numRuns: histories, seed },
  );
  return pushes;
}

interface Decided {
  readonly outcomes: unknown;
  readonly rows: unknown;
}

async function decidedBy(
  changes: readonly Change[],
  requests: readonly { from: number; count: number; times: number; isLost: boolean; waits: boolean }[],
  onPush: () => void = () => undefined,
): Promise<Decided> {
  const failures: unknown[] = [];
  const database = new LiveDatabase(openDatabaseFile(':memory:', TEST_SCHEMA), {
    onFailure: (error) => void failures.push(error),
  });
  const replica = new Replica();
  replica.site.nowMs = () => NOW_MS;
  replica.write([insert('products', 'p', { stock: 0n })]);
  for (const one of changes) replica.write([one]);
  const { site } = replica;
  const last = site.changelog.length;
  let session = new DirectSession(database, replica, NOW_MS);
  // The end of the part that was sent at least once, in order; a push cannot start beyond it.
  let sentUpTo = 0;
  for (const { from, count, times, isLost, waits } of requests) {
    const first = Math.min(1 + from, sentUpTo + 1);
    const to = Math.min(last, first + count - 1);
    for (let time = 0; time < times; time++) {
      session.push(first, to, NOW_MS);
      onPush();
    }
    if (times > 0) sentUpTo = Math.max(sentUpTo, to);
    if (waits) await untilCommitted();
    expect(session.failure).toBeNull();
    if (!isLost) continue;
    session.leave();
    session = new DirectSession(database, replica, NOW_MS);
    // A push that arrived before its connection ended counts.
    await untilCommitted();
    session.leave();
    session = new DirectSession(database, replica, NOW_MS);
  }
  session.push(1, last, NOW_MS);
  await untilCommitted();
  session.applyAll();
  expect([session.failure, failures]).toEqual([null, []]);
  const sql = (text: string): unknown => database.file.sql.all(text);
  const rows = [
    sql('SELECT * FROM products'),
    sql('SELECT * FROM accounts ORDER BY id'),
    sql('SELECT watermark, sequence FROM rockpool_log ORDER BY watermark'),
  ];
  void database.close();
  return { outcomes: replica.outcomes, rows };
}
