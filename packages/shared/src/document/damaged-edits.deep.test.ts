import { it } from 'vitest';
import { checkDamagedEdits } from '../testing/damaged-edits.ts';

it('of 50,000 damaged edits each is refused or gives JSON, and never stops what comes after it', () => checkDamagedEdits(50_000), 900_000);
