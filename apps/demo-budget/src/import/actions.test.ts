import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { addEntry } from '../entries/actions.ts';
import { accountsWithBalances } from '../queries/accounts.ts';
import { importKeysOfAccount, type ImportKeyRow } from '../queries/import.ts';
import { ledgerWindow, wholeLedger, type LedgerRow } from '../queries/ledger.ts';
import { spanOfEntries, spendingByMonth } from '../queries/reports.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { importEntries, takeImportBack, type ImportProgress } from './actions.ts';
import { guessFormats, readChosenFile } from './chosen-file.ts';
import { planImport } from './rows/plan.ts';
import { nothingKnown, previewImport, type ImportDraft } from './rows/preview.ts';

let writer: MemoryWriter;
let accountId: string;

beforeEach(async () => {
  writer = memoryWriter();
  await addStarterCategories(writer);
  accountId = await addAccount(writer, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 184_210 });
});

/** Runs a sample file through the same steps as the import page. Resolves to the new entries. */
async function draftsOf(fileName: string, currency: string): Promise<readonly ImportDraft[]> {
  const file = await readChosenFile(
    fileName,
    new Blob([readFileSync(new URL(`../../public/samples/${fileName}`, import.meta.url))]),
  );
  if (!file.ok) throw new Error(file.problem.code);
  const known = new Set(writer.rows<ImportKeyRow>(importKeysOfAccount, [accountId]).map((row) => row.importKey));
  const plan = planImport(
    previewImport(
      file.value.table,
      { accountId, currency, ...guessFormats(file.value) },
      { ...nothingKnown, importKeys: known },
    ),
    new Set(),
  );
  if (!plan.ok) throw new Error(plan.problem.code);
  return plan.value.entries;
}

describe('importing a statement', () => {
  it('ends at the balance that the bank states, and keeps the order of the statement within a day', async () => {
    const { addedIds } = await importEntries(writer, accountId, await draftsOf('meridian-giro.csv', 'EUR'));
    expect(addedIds).toHaveLength(355);
    expect(writer.rows(accountsWithBalances)).toMatchObject([{ balanceMinor: 509_734, entryCount: 355 }]);
    // The first lines of the file, which lists the newest first.
    const { sql, params } = ledgerWindow(accountId, wholeLedger, 0, 3);
    expect(writer.rows<LedgerRow>(sql, params).map((row) => [row.payee, row.balanceMinor])).toEqual([
      ['Gasthaus Zum Nebelhorn', 509_734],
      ['Bäckerei Hollerblüh', 515_993],
      ['Supermarkt Grünspan', 516_583],
    ]);
  });

  it('adds nothing the second time, either in the plan or in the write', async () => {
    const drafts = await draftsOf('meridian-giro.csv', 'EUR');
    await importEntries(writer, accountId, drafts);
    await expect(draftsOf('meridian-giro.csv', 'EUR')).resolves.toEqual([]);
    await expect(importEntries(writer, accountId, drafts)).resolves.toEqual({ addedIds: [], matchedDays: [] });
  });

  it('reports its progress', async () => {
    const seen: ImportProgress[] = [];
    await importEntries(writer, accountId, await draftsOf('harbour-checking.csv', 'EUR'), (progress) =>
      seen.push(progress),
    );
    expect(seen.map((progress) => progress.writtenCount)).toEqual([500, 1_000, 1_500, 2_000]);
    expect(seen.every((progress) => progress.totalCount === 2_000)).toBe(true);
  });

  it('gives each entry the payee’s last category', async () => {
    const payee = 'Bäckerei Hollerblüh';
    await addEntry(writer, accountId, {
      date: '2024-01-01',
      payee,
      notes: '',
      categoryId: 'starter-leisure',
      amountMinor: -1,
    });
    await addEntry(writer, accountId, {
      date: '2024-01-02',
      payee,
      notes: '',
      categoryId: 'starter-groceries',
      amountMinor: -1,
    });
    await importEntries(writer, accountId, await draftsOf('meridian-giro.csv', 'EUR'));
    const rows = writer.rows<{ categoryId: string | null; payee: string }>(
      'SELECT DISTINCT categoryId, payee = ? AS payee FROM entries WHERE importKey IS NOT NULL',
      [payee],
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { categoryId: 'starter-groceries', payee: 1 },
        { categoryId: null, payee: 0 },
      ]),
    );
    expect(rows).toHaveLength(2);
  });

  it('gives an entry without a payee no category', async () => {
    const fields = { date: '2024-01-01', payee: '', notes: '', amountMinor: -1 };
    await addEntry(writer, accountId, { ...fields, categoryId: 'starter-leisure' });
    await importEntries(writer, accountId, [{ ...fields, importKey: 'imported', categoryName: '' }]);
    expect(writer.rows("SELECT categoryId FROM entries WHERE id = 'imported'")).toEqual([{ categoryId: null }]);
  });

  it('can be undone, whatever its size', async () => {
    const count = 5_001;
    const drafts = Array.from({ length: count }, (_, index) => ({
      importKey: `imported-${index}`,
      date: '2025-01-31',
      amountMinor: -1,
      payee: 'Kiosk',
      notes: '',
      categoryName: '',
    }));
    const imported = await importEntries(writer, accountId, drafts);
    await expect(takeImportBack(writer, imported)).resolves.toBe(count);
    expect(writer.rows('SELECT id FROM entries')).toEqual([]);
  });

  it('gives an entry the category that the file names before the payee’s last one, and can add it', async () => {
    const fields = { date: '2024-01-01', payee: 'Market', notes: '' };
    await addEntry(writer, accountId, { ...fields, categoryId: 'starter-leisure', amountMinor: -1 });
    await importEntries(
      writer,
      accountId,
      (
        [
          ['a', -100, 'Food:GROCERIES'],
          ['b', -200, ''],
          ['c', -300, 'Pets'],
          ['d', 400, 'Sales / Flea market'],
          ['e', 500, 'Flea market'],
          ['f', -50, 'Flea market'],
          ['g', -60, 'STRASSE'],
          ['h', -70, 'Straße'],
        ] as const
      ).map(([importKey, amountMinor, categoryName]) => ({ ...fields, importKey, amountMinor, categoryName })),
      () => undefined,
      true,
    );
    expect(
      writer
        .rows<{ id: string; name: string; kind: string }>(
          'SELECT entries.id, name, kind FROM entries JOIN categories ON categories.id = categoryId WHERE importKey IS NOT NULL ORDER BY entries.id',
        )
        .map(({ id, name, kind }) => [id, name, kind]),
    ).toEqual([
      ['a', 'Groceries', 'spending'],
      ['b', 'Leisure', 'spending'],
      ['c', 'Pets', 'spending'],
      ['d', 'Flea market', 'income'],
      ['e', 'Flea market', 'income'],
      ['f', 'Flea market', 'income'],
      ['g', 'Straße', 'spending'],
      ['h', 'Straße', 'spending'],
    ]);
  });

  it('shows spending in the report, not income', async () => {
    await importEntries(writer, accountId, await draftsOf('meridian-giro.csv', 'EUR'));
    await writer.execute('UPDATE entries SET categoryId = ? WHERE payee = ?', [
      'starter-home',
      'Hausverwaltung Dreilinden',
    ]);
    await writer.execute('UPDATE entries SET categoryId = ? WHERE amountMinor > 0', ['starter-income']);
    expect(writer.rows(spanOfEntries, ['EUR'])).toEqual([{ firstMonth: '2025-01', lastMonth: '2025-06' }]);
    const rows = writer.rows<{ month: string; categoryId: string | null; spentMinor: number }>(spendingByMonth, [
      'EUR',
      '2025-02-01',
      '2025-03-31',
    ]);
    expect(rows.filter((row) => row.categoryId === 'starter-home')).toEqual([
      { month: '2025-02', categoryId: 'starter-home', spentMinor: 98_400 },
      { month: '2025-03', categoryId: 'starter-home', spentMinor: 98_400 },
    ]);
    expect(rows.some((row) => row.categoryId === 'starter-income')).toBe(false);
    expect(writer.rows(spendingByMonth, ['USD', '2025-02-01', '2025-03-31'])).toEqual([]);
  });
});
