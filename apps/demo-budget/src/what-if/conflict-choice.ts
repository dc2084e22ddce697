import type { BranchConflict, SqlValue } from '@rockpool/client';
import { currencyOf, nameOf, tableWords, type KnownRows } from '../words/row-differences.ts';
import { columnWords, valueWord } from '../words/row-words.ts';

/** Identifies a conflict across comparisons of the what-if. */
export function conflictId({ kind, table, key, column }: BranchConflict): string {
  return JSON.stringify([kind, table, key.map(String), column]);
}

/** A conflict in words, with the two values to choose from. */
export interface ConflictChoice {
  readonly id: string;
  readonly title: string;
  /** The value in today's budget, or what choosing today's side does. */
  readonly today: string;
  /** The value in the what-if, or what choosing its side does. */
  readonly whatIf: string;
}

export function conflictChoice(conflict: BranchConflict, known: KnownRows): ConflictChoice {
  const { kind, table, key, column, ours, theirs } = conflict;
  const row = { table, key, kind: 'update', changes: [] } as const;
  const word = tableWords[table] ?? table;
  const name = `${word.charAt(0).toUpperCase()}${word.slice(1)}${nameOf(row, known)}`;
  const id = conflictId(conflict);
  if (kind === 'deleted-in-branch') return { id, title: name, today: 'Changed: keep it', whatIf: 'Deleted: delete it' };
  if (kind === 'deleted-in-origin')
    return { id, title: name, today: 'Deleted: leave it deleted', whatIf: 'Changed: bring it back' };
  const words = (value: SqlValue): string => valueWord(column, value, currencyOf(row, known), known.wording);
  return {
    id,
    title: `${name} · ${columnWords[column ?? ''] ?? column ?? ''}`,
    today: words(theirs),
    whatIf: words(ours),
  };
}
