import { longDeadlines } from './harness/long-deadlines.ts';
import { progressWatch, takeProgressShown, type ProgressShown } from './harness/progress-watch.ts';
import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { chooseFile, importPreviewed } from './steps/import.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

/** Enough rows that a new device downloads the budget as a file. */
const ENTRY_COUNT = 8_000;

const statement = [
  'Date;Payee;Amount',
  ...Array.from(
    { length: ENTRY_COUNT },
    (_, row) => `2025-${String((row % 12) + 1).padStart(2, '0')}-15;Market hall number ${row};-${(row % 90) + 1}.25`,
  ),
].join('\n');

test('an import, an export and the first visit of another device show their progress', async ({ newPerson }) => {
  const anna = await newPerson({ scriptPrefix: progressWatch });
  await addAccount(anna.page, { name: 'Household', currency: 'EUR' });
  await chooseFile(anna.page, { name: 'statement.csv', contents: statement });
  await importPreviewed(anna.page, ENTRY_COUNT);
  expectToRise(await takeProgressShown(anna.page), /^[\d,]+ of 8,000 entries saved$/);
  await expectUpToDate(anna.page);

  await goTo(anna.page, 'Import');
  await anna.page.getByRole('link', { name: 'Export' }).click();
  const saved = anna.page.waitForEvent('download');
  await anna.page.getByRole('button', { name: 'Save Entries as CSV' }).click();
  await saved;
  expectToRise(await takeProgressShown(anna.page), /^[\d,]+ of 8,000$/);

  const ben = await newPerson({
    link: await shareLink(anna.page),
    // The app opens an empty budget if the server has not responded within three seconds.
    scriptPrefix: progressWatch + longDeadlines,
    holdsSnapshots: true,
  });
  await expect(ben.page.getByRole('progressbar', { name: /^Downloading the budget, / })).toBeVisible();
  ben.gateway.releaseSnapshots();
  await expect(ben.page.getByRole('link', { name: /Household/ })).toContainText('8,000 entries');
  expectToRise(await takeProgressShown(ben.page), /^Downloading the budget, [\d.]+ MB of [\d.]+ MB$/);
});

/** A bar of that name appeared, and its value never decreased. */
function expectToRise(shown: readonly ProgressShown[], label: RegExp): void {
  const steps = shown.filter((one) => label.test(one.label)).map(({ done }) => done);
  expect(steps.length).toBeGreaterThan(0);
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
}
