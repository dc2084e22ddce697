import { it } from 'vitest';
import { checkDamagedEdits } from '../testing/damaged-edits.ts';

it('a damaged edit is refused or gives JSON, and never stops what comes after it', () => checkDamagedEdits(1000));
