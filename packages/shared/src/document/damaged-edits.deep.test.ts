import { expect, it } from 'vitest';
import { checkDamagedEdits } from '../../testing/damaged-edits.ts';

it(
  'of 50,000 damaged edits each is refused or gives JSON, and never stops what comes after it',
  () => expect(checkDamagedEdits(50_000).taken).toBeGreaterThan(1000),
  900_000,
);
