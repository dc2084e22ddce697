import { expect, it } from 'vitest';
import { checkDamagedEdits } from '../../testing/damaged-edits.ts';

it('a document rejects each of 50,000 damaged edits or reads JSON from it, and merges later edits either way', () =>
  expect(checkDamagedEdits(50_000).taken).toBeGreaterThan(1000));
