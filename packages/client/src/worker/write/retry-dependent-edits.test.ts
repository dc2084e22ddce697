import { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { retryDependentEdits, type RetryParts } from './retry-dependent-edits.ts';

const EDITS = Array.from({ length: 50 }, (_, index) => index + 1);

it('a delivery tries at most twenty edits again that did not fit, and all in turn', () => {
  const tried: number[] = [];
  const parts = {
    rejected: { rejectedWith: () => EDITS, count: () => EDITS.length },
    outbox: { lastAckedSequence: () => 100 },
    meta: { firstOfPrincipal: 1 },
    retryIfUnchanged: (sequence: number) => {
      tried.push(sequence);
      throw new RockpoolError('document-gap');
    },
  } as unknown as RetryParts;
  const deliver = (): number[] => {
    tried.length = 0;
    expect(retryDependentEdits(parts).size).toBe(0);
    return [...tried];
  };
  expect(deliver()).toEqual(EDITS);
  const later = [deliver(), deliver(), deliver()];
  expect(later.map(({ length }) => length)).toEqual([20, 20, 20]);
  expect(new Set(later.flat())).toEqual(new Set(EDITS));
});
