import { expect, it } from 'vitest';
import { checkDamagedEdits } from '../../testing/damaged-edits.ts';

it('a document rejects a damaged edit or reads JSON from it, and merges later edits either way', () => {
  const { refused, taken } = checkDamagedEdits(2000);
  // Nearly all damage is seen; what is not seen is what makes the rest of the test say something.
  expect(refused).toBeGreaterThan(taken);
  expect(taken).toBeGreaterThan(10);
});
