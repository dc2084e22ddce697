import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import type { OpenDatabase } from '../database/open-database.ts';
import { openInMemory, openStored } from '../../../testing/worker/test-database.ts';
import { admitted, testDelivery, testSync, testWelcome } from '../../../testing/worker/sync-steps.ts';

const START_MS = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const clock = { wallMs: START_MS, elapsedMs: 0 };
const options = { nowMs: (): number => clock.wallMs, elapsedMs: (): number => clock.elapsedMs };
const pass = (ms: number): void => {
  clock.wallMs += ms;
  clock.elapsedMs += ms;
};

let requests = 0;
function write(database: OpenDatabase): void {
  requests++;
  database.write({
    id: `w${requests}`,
    statements: [{ sql: 'INSERT INTO account (id) VALUES (?)', params: [String(requests)] }],
  });
}

/** The ages of the pending changesets in the messages that were sent, in hours. */
function agesInHours(database: OpenDatabase, serverNowMs: number): number[] {
  const sync = testSync(database);
  sync.greet(testWelcome({ serverNowMs }));
  return (sync.nextPush(0, 1e6)?.changesets ?? []).map(({ ageUs }) => Math.round(ageUs / 3.6e7) / 100);
}

describe('pending changes', () => {
  it('keep their age if the clock is set back while the app runs', () => {
    const database = openInMemory(options);
    testSync(database).greet(testWelcome({ serverNowMs: START_MS }));
    pass(HOUR_MS);
    write(database);
    clock.wallMs -= YEAR_MS;
    pass(HOUR_MS);
    write(database);
    pass(HOUR_MS);
    expect(agesInHours(database, START_MS + 3 * HOUR_MS)).toEqual([2, 1]);
    database.close();
  });

  it('have the maximum possible age if the clock was set back while the app was closed', async () => {
    const medium = memoryMedium();
    const first = await openStored(medium, options);
    const startMs = clock.wallMs;
    testSync(first.database).greet(testWelcome({ serverNowMs: startMs }));
    pass(HOUR_MS);
    write(first.database);
    await first.close();
    clock.wallMs -= YEAR_MS;
    pass(HOUR_MS);
    const again = await openStored(medium, options);
    write(again.database);
    pass(HOUR_MS);
    expect(agesInHours(again.database, startMs + 3 * HOUR_MS)).toEqual([2, 2]);
    expect(again.database.connection.rows('SELECT stamp_us + shift_us FROM rockpool_changelog')[1]).toEqual([
      (clock.wallMs - HOUR_MS) * 1000,
    ]);
    await again.close();
  });

  it('are no older than the last contact if the clock was set a year ahead [MR-06]', () => {
    const database = openInMemory(options);
    const startMs = clock.wallMs;
    testSync(database).greet(testWelcome({ serverNowMs: startMs }));
    pass(HOUR_MS);
    write(database);
    clock.wallMs += YEAR_MS;
    pass(HOUR_MS);
    write(database);
    pass(HOUR_MS);
    expect(agesInHours(database, startMs + 3 * HOUR_MS)).toEqual([3, 1]);
    database.close();
  });
});

describe('decided changesets', () => {
  it('are kept for a week by the server’s clock, in case the server loses them, even if the clock was set a year ahead', () => {
    const database = openInMemory(options);
    const serverMs = clock.wallMs;
    const sync = testSync(database, options.elapsedMs);
    sync.greet(testWelcome({ serverNowMs: serverMs }));
    for (let number = 1; number <= 4; number++) {
      write(database);
      sync.applyDelivery(
        testDelivery({ from: number - 1, to: number, lastAckedSequence: number, outcomes: admitted(number, number) }),
      );
      if (number === 2) clock.wallMs += YEAR_MS;
      pass(number === 3 ? 8 * 24 * HOUR_MS : HOUR_MS);
      // Changesets 1 to 3 were decided more than a week before 4; the last of them is kept for its hash.
      expect(database.changelog.firstRetained()).toBe(number < 4 ? 1 : 3);
    }
    database.close();
  });
});
