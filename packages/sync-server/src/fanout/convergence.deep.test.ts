import fc from 'fast-check';
import { describe, it } from 'vitest';
import { checkConvergence, history } from '../../testing/random-history.ts';

describe('clients of one database, in long histories', () => {
  it('hold the server’s rows once all have synced, after any history', async () => {
    await fc.assert(
      fc.asyncProperty(history, (one) => checkConvergence(one)),
      { numRuns: 10_000 },
    );
  });
});
