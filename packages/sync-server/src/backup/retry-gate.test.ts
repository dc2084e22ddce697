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
