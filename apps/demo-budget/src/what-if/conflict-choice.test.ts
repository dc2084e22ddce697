import type { BranchConflict } from '@rockpool/client';
import { expect, it } from 'vitest';
import { formatDay } from '../shell/locale.ts';
import { known } from '../../testing/known-rows.ts';
import { conflictChoice } from './conflict-choice.ts';

const day = formatDay('2026-04-01');

it('a choice shows both values of a conflict, and the result for a row that one side deleted', () => {
  const conflict: BranchConflict = {
    kind: 'cell',
    table: 'entries',
    key: ['e'],
    column: 'amountMinor',
    base: -900,
    ours: -950,
    theirs: -920,
  };
  expect(conflictChoice(conflict, known)).toMatchObject({
    title: `Entry: Rent, ${day} · Amount`,
    today: '-¥920',
    whatIf: '-¥950',
  });
  for (const [kind, today, whatIf] of [
    ['deleted-in-branch', 'Changed: keep it', 'Deleted: delete it'],
    ['deleted-in-origin', 'Deleted: leave it deleted', 'Changed: bring it back'],
  ] as const)
    expect(conflictChoice({ ...conflict, kind, column: null }, known)).toMatchObject({
      title: `Entry: Rent, ${day}`,
      today,
      whatIf,
    });
});
