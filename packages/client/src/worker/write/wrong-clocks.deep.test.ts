import { describe, expect, it } from 'vitest';
import { openInMemory, TestClock } from '../../../testing/worker/test-database.ts';

const START_MS = 1_700_000_000_000;
const YEAR_MS = 365 * 24 * 3600 * 1000;
const WRITES = 200_000;
const PUSH_BYTES = 1e6;

const clocks: Readonly<Record<string, (clock: TestClock, write: number) => void>> = {
  'a year ahead': (clock, write) => void (clock.ms = START_MS + YEAR_MS + write),
  'a year behind': (clock, write) => void (clock.ms = START_MS - YEAR_MS + write),
  'jumping by a year, to and fro': (clock, write) =>
    void (clock.ms = START_MS + (write % 2 === 0 ? YEAR_MS : -YEAR_MS)),
  'going backwards': (clock, write) => void (clock.ms = START_MS - 2 * write),
  frozen: (clock) => void (clock.ms = START_MS),
};

describe('200,000 writes to a real database', () => {
  it.each(Object.entries(clocks))('have gapless sequences and rising stamps if the clock is %s', (_, set) => {
    const clock = new TestClock();
    const database = openInMemory({ nowMs: clock.now });
    for (let write = 0; write < WRITES; write++) {
      set(clock, write);
      // All writes change one row: the changelog grows, but the table must not.
      database.write({
        id: `w${write}`,
        statements: [
          {
            sql: "INSERT INTO account (id, amount) VALUES ('a', ?) ON CONFLICT (id) DO UPDATE SET amount = excluded.amount",
            params: [write],
          },
        ],
      });
    }
    let sequence = 0;
    let lastStampUs = -Infinity;
    for (
      let batch = database.outbox.nextPush(0, PUSH_BYTES);
      batch !== null;
      batch = database.outbox.nextPush(sequence, PUSH_BYTES)
    ) {
      for (const changeset of batch.changesets) {
        expect(changeset.sequence).toBe(++sequence);
        expect(changeset.stampUs).toBeGreaterThan(lastStampUs);
        lastStampUs = changeset.stampUs;
      }
    }
    expect(sequence).toBe(WRITES);
    expect(Number.isSafeInteger(lastStampUs)).toBe(true);
    expect(database.connection.value("SELECT amount FROM account WHERE id = 'a'")).toBe(WRITES - 1);
    database.close();
  });
});
