import { RockpoolError } from '@rockpool/shared';
import { expect, it, onTestFinished } from 'vitest';
import { RetryGate } from './retry-gate.ts';

it('copies that fail at the same time delay the next attempt like a single failure', () => {
  const gate = new RetryGate(
    () => 1_000_000,
    () => undefined,
  );
  onTestFinished(() => gate.close());
  const failures = Array.from({ length: 32 }, () => gate.failed(new RockpoolError('backup-unavailable')));
  expect(new Set(failures.map(({ nextAttemptMs }) => nextAttemptMs))).toEqual(new Set([1_001_000]));
  // The next attempt fails too.
  gate.close();
  expect(gate.failed(new RockpoolError('backup-unavailable'))).toMatchObject({ failures: 2, nextAttemptMs: 1_002_000 });
});

it('the delay before the next attempt doubles with each failure, up to a minute', () => {
  const gate = new RetryGate(
    () => 0,
    () => undefined,
  );
  onTestFinished(() => gate.close());
  const delaysMs = Array.from({ length: 9 }, () => {
    gate.close();
    return gate.failed(new RockpoolError('backup-unavailable')).nextAttemptMs;
  });
  expect(delaysMs).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});
