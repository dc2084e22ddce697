import { expect, it } from 'vitest';
import { checkDamagedEdits } from '../../testing/damaged-edits.ts';

it('a damaged edit is refused or gives JSON, and never stops what comes after it', () => {
  const { refused, taken } = checkDamagedEdits(2000);
  // Nearly all damage is seen; what is not seen is what makes the rest of the test say something.
  expect(refused).toBeGreaterThan(taken);
  expect(taken).toBeGreaterThan(10);
});
