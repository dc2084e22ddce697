import { expect, it } from 'vitest';
import { CONNECT_DEADLINE_MS, OUTCOME_DEADLINE_MS } from '#client/worker/sync/sync-deadlines.ts';
import { ANSWER_WITHIN_MS } from '#sync-server/auth/gate.ts';

/** A round trip on a bad mobile network. */
const ROUND_TRIP_MS = 2_000;

it('a client learns that the host of its server does not answer before it gives up the connection', () => {
  for (const deadlineMs of [CONNECT_DEADLINE_MS, OUTCOME_DEADLINE_MS])
    expect(ANSWER_WITHIN_MS + ROUND_TRIP_MS).toBeLessThan(deadlineMs);
});
