import type { TestConnection } from './test-client.ts';

// Small pushes, several in flight: a kill then hits some that are decided and acknowledged, some only decided, some
// half admitted and some unread.
const PUSH_SIZE = 5;
const PUSHES_IN_FLIGHT = 8;

/** Pushes undecided changesets, one window at a time, until `enough` returns true. */
export async function pushUntil(connection: TestConnection, enough: number): Promise<void> {
  const { site } = connection;
  const all = site.changelog.length;
  let sent = site.lastAckedSequence;
  while (site.lastAckedSequence < enough) {
    while (sent < all && sent - site.lastAckedSequence < PUSH_SIZE * PUSHES_IN_FLIGHT) {
      const to = Math.min(sent + PUSH_SIZE, all);
      connection.push(sent + 1, to);
      sent = to;
    }
    await connection.delivery();
  }
}
