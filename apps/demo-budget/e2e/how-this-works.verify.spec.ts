import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

test('the page for developers shows the SQL of a page, which queries run again, and outgoing changes with bytes and latency', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR' });
  await expectUpToDate(page);
  await goTo(page, 'How this works');
  await expect(page.getByText('Yes: its worker writes and syncs for all tabs')).toBeVisible();
  const changes = page.getByRole('region', { name: 'Changes' });
  await expect(changes.getByRole('cell', { name: / ms$/ }).first()).toBeVisible();
  // The query of the conflict log reads many tables; their names must not overlap the figures.
  const queries = page.getByRole('region', { name: 'Live queries' });
  await expect(queries.getByRole('row').filter({ hasText: 'WITH conflict' })).toContainText(', schedules');
  const overflowing = await queries
    .getByRole('cell')
    .evaluateAll((cells) =>
      cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
    );
  expect(overflowing).toEqual([]);

  await page.getByRole('button', { name: 'Show the SQL on every page' }).click();
  await openAccount(page, 'Household');
  const inspector = page.getByRole('complementary', { name: 'Queries of this page' });
  const ledgerQuery = inspector.getByRole('row').filter({ hasText: 'SELECT count(*) AS entryCount' });
  await expect(ledgerQuery).toContainText('entries');
  await expect(ledgerQuery).toContainText(' ms');
  const woken = async (): Promise<number> => Number(await ledgerQuery.getByRole('cell').last().textContent());
  const before = await woken();
  await addEntry(page, { payee: 'Market', amount: '20' });
  await expect.poll(woken).toBeGreaterThan(before);
  await ledgerQuery.getByRole('button').click();
  await expect(inspector.getByRole('list', { name: 'Query plan' })).toContainText('entries_by_account');
  await inspector.getByRole('button', { name: 'Close', exact: true }).click();
  await expect(inspector).toBeHidden();

  await openSyncPage(page);
  await expect(
    page
      .getByRole('listitem')
      .filter({ hasText: /\d:\d\d.*Up to date/ })
      .first(),
  ).toBeVisible();
});

test('two devices in one window make a conflict, and the lost value is restored', async ({ newPerson }) => {
  const { page } = await newPerson();
  await goTo(page, 'How this works');
  await page.getByRole('button', { name: 'Open two devices' }).click();
  const laptop = page.getByRole('form', { name: 'Laptop' });
  const phone = page.getByRole('form', { name: 'Phone' });
  await expect(phone).toContainText('bread');
  await phone.getByRole('button', { name: 'Go offline' }).click();
  await expect(phone).toContainText('Paused');
  await phone.getByRole('textbox').fill('rolls');
  await phone.getByRole('button', { name: 'Save' }).click();
  await expect(phone).toContainText('rolls');
  await laptop.getByRole('textbox').fill('cake');
  await laptop.getByRole('button', { name: 'Save' }).click();
  await expect(laptop).toContainText('cake');
  await expect(laptop).toContainText('Up to date');
  await phone.getByRole('button', { name: 'Go online' }).click();
  // The two writes are too close in time for the correction of the devices' clocks, so either may win.
  const walk = page.getByRole('region', { name: 'Make a conflict' });
  const replaced = /(cake|rolls) from .+? replaced (cake|rolls)/;
  await expect(walk).toContainText(replaced);
  const [, won = '', lost = ''] = replaced.exec(await walk.innerText()) ?? [];
  expect([won, lost].sort()).toEqual(['cake', 'rolls']);
  for (const device of [laptop, phone]) await expect(device).toContainText(won);
  await walk.getByRole('button', { name: `Restore ${lost}` }).click();
  for (const device of [laptop, phone]) await expect(device).toContainText(lost);
  await expect(walk).toContainText('No open conflicts.');
});
