import fc from 'fast-check';
import { describe, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { checkConvergence, history } from '../../testing/random-history.ts';

describe('clients of one database', () => {
  it('hold the server’s rows once all have synced, after any history', async () => {
    await fc.assert(
      fc.asyncProperty(history, (one) => checkConvergence(one)),
      { numRuns: atLevel({ test: 30, verify: 200 }) },
    );
  });
});
