import fc from 'fast-check';
import { describe, it } from 'vitest';
import { checkConvergence, history } from '../../testing/random-history.ts';

describe('clients of one database, at length', () => {
  it('hold the same rows as the server once all have synced, whatever happened before', async () => {
    await fc.assert(fc.asyncProperty(history, checkConvergence), { numRuns: 10_000 });
  });
});
