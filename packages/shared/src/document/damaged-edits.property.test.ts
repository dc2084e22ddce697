import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { checkDamagedEdits } from '../../testing/damaged-edits.ts';

it('a document rejects a damaged edit or reads JSON from it, and merges later edits either way', () => {
  const { refused, taken } = checkDamagedEdits(atLevel({ test: 700, verify: 2000 }));
  // Most damage is rejected. That some edits are accepted shows that the rest of the test has something to check.
  expect(refused).toBeGreaterThan(taken);
  expect(taken).toBeGreaterThan(10);
});
