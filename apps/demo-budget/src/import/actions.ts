import type { SqlStatement } from '@rockpool/client';
import { addCategory } from '../categories/actions.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { categoryFinder, means, unknownCategoryNames } from './category-names.ts';
import { kindOfAccount, type AccountKindRow } from '../queries/accounts.ts';
import { rulesInOrder, type RuleRow } from '../queries/rules.ts';
import { applyRules } from '../rules/apply.ts';
import { splitAmount, type RulePart } from '../rules/rule-split.ts';
import { readRules } from '../rules/rule.ts';
import { partChanges } from '../splits/part-changes.ts';
import { matchImport, openMatchedDays, type MatchedDay } from '../schedules/match-imports.ts';
import type { Writer } from '../writer.ts';
import { deletionOf } from '../entries/actions.ts';
import type { ImportDraft } from './rows/preview.ts';

/**
 * Rows per transaction. One transaction for all rows would delay every other write of the household until it ends. If
 * the tab dies between two slices, nothing is lost: importing the file again adds only the missing rows.
 */
const rowsPerTransaction = 500;

export interface ImportProgress {
  readonly writtenCount: number;
  readonly totalCount: number;
}

/** What an import wrote, so that it can be undone. */
export interface Imported {
  /** The ids of the new entries. */
  readonly addedIds: readonly string[];
  readonly matchedDays: readonly MatchedDay[];
}

/**
 * Writes the entries of a plan, in slices. Rules set payee, notes, status, category and parts; without a category from
 * a rule, an entry receives the one that the file names, or otherwise the payee's last category. Scheduled entries that
 * the file contains are marked as entered. Off-budget entries receive no category.
 *
 * @param drafts in the order of the file, which may be oldest or newest first.
 * @param addsCategories adds the file's categories that the budget does not have
 */
export async function importEntries(
  writer: Writer,
  accountId: string,
  drafts: readonly ImportDraft[],
  onProgress: (progress: ImportProgress) => void = () => {},
  addsCategories: boolean = false,
): Promise<Imported> {
  const [account] = await writer.query<AccountKindRow>(kindOfAccount, [accountId]);
  const hasCategories = account?.kind !== 'off-budget';
  const categoryIds = await lastCategoryOfPayees(writer);
  const findCategory = hasCategories ? await categoriesOf(writer, drafts, addsCategories) : () => undefined;
  const rules = readRules(await writer.query<RuleRow>(rulesInOrder));
  const oldestFirst = (isNewestFirst(drafts) ? drafts.toReversed() : drafts).map((draft) => ({
    draft,
    ruled: applyRules(rules, { ...draft, accountId }),
  }));
  const startedAtMs = Date.now();
  const addedIds: string[] = [];
  for (let from = 0; from < oldestFirst.length; from += rowsPerTransaction) {
    const slice = oldestFirst.slice(from, from + rowsPerTransaction);
    const results = await writer.batch([
      ...slice.map(({ draft, ruled }, offset) => ({
        // The key is the id: if another device has imported the same statement meanwhile, the row already exists.
        // Imported entries are cleared, because the bank has them, unless a rule says otherwise.
        sql: `INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs, importKey, status)
              VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
        params: [
          draft.importKey,
          accountId,
          draft.date,
          ruled.payee,
          ruled.notes,
          hasCategories && ruled.split.length === 0
            ? (ruled.categoryId ?? findCategory(draft.categoryName) ?? categoryIds.get(ruled.payee) ?? null)
            : null,
          draft.amountMinor,
          startedAtMs + from + offset,
          draft.importKey,
          ruled.status ?? 'cleared',
        ],
      })),
      // Comes after the statements that write the entries, so that `results` begins with theirs.
      ...slice.flatMap(({ draft, ruled }) => (hasCategories ? partsOfImport(draft, ruled.split) : [])),
    ]);
    addedIds.push(...slice.filter((_, offset) => results[offset]?.changes === 1).map(({ draft }) => draft.importKey));
    onProgress({ writtenCount: from + slice.length, totalCount: drafts.length });
  }
  const added = new Set(addedIds);
  const matchedDays = await matchImport(
    writer,
    accountId,
    drafts.filter(({ importKey }) => added.has(importKey)),
  );
  return { addedIds, matchedDays };
}

/** Leaves an entry unchanged that another device has imported and split meanwhile. */
function partsOfImport({ importKey, amountMinor }: ImportDraft, split: readonly RulePart[]): SqlStatement[] {
  const parts = splitAmount(amountMinor, split).map((part) => ({ ...part, id: '', notes: '' }));
  return partChanges(importKey, [], parts, 'DO NOTHING');
}

/** Finds the categories that a file names. Added categories have the kind of most of their entries. */
async function categoriesOf(
  writer: Writer,
  drafts: readonly ImportDraft[],
  adds: boolean,
): Promise<(name: string) => string | undefined> {
  const known = await writer.query<CategoryRow>(categoriesByName);
  const unknown = adds ? unknownCategoryNames(drafts, known) : [];
  for (const name of unknown) {
    const own = drafts.filter(({ categoryName }) => means(categoryName, name));
    const isIncome = own.filter(({ amountMinor }) => amountMinor > 0).length * 2 > own.length;
    await addCategory(writer, name, isIncome ? 'income' : 'spending');
  }
  return categoryFinder(unknown.length === 0 ? known : await writer.query<CategoryRow>(categoriesByName));
}

/** Entries per statement that names them. */
const entriesPerDelete = 5_000;

/**
 * Deletes the entries that an import added, except those reconciled since, and makes their scheduled entries due again.
 * Resolves to the number deleted.
 */
export async function takeImportBack(writer: Writer, { addedIds, matchedDays }: Imported): Promise<number> {
  let count = 0;
  for (let from = 0; from < addedIds.length; from += entriesPerDelete) {
    const [insertion, deletion] = deletionOf(addedIds.slice(from, from + entriesPerDelete));
    const isLast = from + entriesPerDelete >= addedIds.length;
    const results = await writer.batch([insertion, deletion, ...(isLast ? [openMatchedDays(matchedDays)] : [])]);
    count += results[1]?.changes ?? 0;
  }
  return count;
}

/** The number of entries of an import that are no longer in the budget. */
export async function removedCount(reader: Pick<Writer, 'query'>, { addedIds }: Imported): Promise<number> {
  let count = addedIds.length;
  for (let from = 0; from < addedIds.length; from += entriesPerDelete) {
    const [row] = await reader.query<{ readonly leftCount: number }>(
      'SELECT count(*) AS leftCount FROM entries WHERE id IN (SELECT value FROM json_each(?))',
      [JSON.stringify(addedIds.slice(from, from + entriesPerDelete))],
    );
    count -= row?.leftCount ?? 0;
  }
  return count;
}

function isNewestFirst(drafts: readonly ImportDraft[]): boolean {
  return (drafts[0]?.date ?? '') > (drafts.at(-1)?.date ?? '');
}

async function lastCategoryOfPayees(writer: Writer): Promise<ReadonlyMap<string, string>> {
  // With max(date), SQLite takes the bare columns from the row with the maximum.
  const rows = await writer.query<{ payee: string; categoryId: string }>(
    `SELECT payee, categoryId, max(date) FROM entries WHERE categoryId IS NOT NULL AND payee <> '' GROUP BY payee`,
  );
  return new Map(rows.map((row) => [row.payee, row.categoryId]));
}
