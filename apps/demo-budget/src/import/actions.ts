import type { EntryDraft } from './rows/preview.ts';
import type { Writer } from '../writer.ts';

/**
 * Rows of one transaction. All rows in one would hold back every other write of the household for as long; a tab that dies between two
 * slices loses nothing either, since importing the file again adds just the missing rows.
 */
const rowsPerTransaction = 500;

export interface ImportProgress {
  readonly writtenCount: number;
  readonly totalCount: number;
}

/**
 * Writes the entries of a plan, in slices. Each gets the category that its payee had last, if any. Resolves to how many entries are new.
 * @param drafts in the order of the file, which may be oldest or newest first.
 */
export async function importEntries(
  writer: Writer,
  accountId: string,
  drafts: readonly EntryDraft[],
  onProgress: (progress: ImportProgress) => void = () => {},
): Promise<number> {
  const categoryIds = await lastCategoryOfPayees(writer);
  const oldestFirst = isNewestFirst(drafts) ? drafts.toReversed() : drafts;
  const startedAtMs = Date.now();
  let addedCount = 0;
  for (let from = 0; from < oldestFirst.length; from += rowsPerTransaction) {
    const slice = oldestFirst.slice(from, from + rowsPerTransaction);
    const results = await writer.batch(
      slice.map((draft, offset) => ({
        // The key is the id: where another device has imported the same statement meanwhile, the row is there already.
        sql: `INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs, importKey)
              VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
        params: [
          draft.importKey,
          accountId,
          draft.date,
          draft.payee,
          draft.notes,
          categoryIds.get(draft.payee) ?? null,
          draft.amountMinor,
          startedAtMs + from + offset,
          draft.importKey,
        ],
      })),
    );
    addedCount += results.reduce((count, result) => count + result.changes, 0);
    onProgress({ writtenCount: from + slice.length, totalCount: drafts.length });
  }
  return addedCount;
}

function isNewestFirst(drafts: readonly EntryDraft[]): boolean {
  return (drafts[0]?.date ?? '') > (drafts.at(-1)?.date ?? '');
}

async function lastCategoryOfPayees(writer: Writer): Promise<ReadonlyMap<string, string>> {
  // With max(date), SQLite takes the other columns from the row that has it.
  const rows = await writer.query<{ payee: string; categoryId: string }>(
    `SELECT payee, categoryId, max(date) FROM entries WHERE categoryId IS NOT NULL AND payee <> '' GROUP BY payee`,
  );
  return new Map(rows.map((row) => [row.payee, row.categoryId]));
}
