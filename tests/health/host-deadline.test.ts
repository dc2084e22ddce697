import { expect, it } from 'vitest';
import { CONNECT_DEADLINE_MS, OUTCOME_DEADLINE_MS } from '#client/worker/sync/sync-deadlines.ts';
import { ANSWER_WITHIN_MS } from '#sync-server/auth/gate.ts';
import { SWEEP_INTERVAL_MS } from '#sync-server/session/accept-sockets.ts';
import { WELCOME_WITHIN_MS } from '#sync-server/session/session-rules.ts';

/** A round trip on a mobile network, and on a bad one. */
const [QUICK_ROUND_TRIP_MS, ROUND_TRIP_MS] = [1_000, 2_000];

it('a client learns that the host of its server does not answer before it gives up the connection', () => {
  for (const deadlineMs of [CONNECT_DEADLINE_MS, OUTCOME_DEADLINE_MS])
    expect(ANSWER_WITHIN_MS + ROUND_TRIP_MS).toBeLessThan(deadlineMs);
});

it('a client learns that its database is not open before it gives up the connection', () => {
  expect(WELCOME_WITHIN_MS).toBeGreaterThan(ANSWER_WITHIN_MS);
  expect(WELCOME_WITHIN_MS + SWEEP_INTERVAL_MS + QUICK_ROUND_TRIP_MS).toBeLessThan(CONNECT_DEADLINE_MS);
});
