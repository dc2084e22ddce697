import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright/test';
import { expect, test } from '../e2e/harness/test.ts';
import { fillAccountForm, openAccount } from '../e2e/steps/accounts.ts';
import { toast } from '../e2e/steps/entries.ts';
import { chooseFile, importPreviewed, samples } from '../e2e/steps/import.ts';
import { goTo, shareLink } from '../e2e/steps/navigation.ts';
import { expectUpToDate, openSyncPage } from '../e2e/steps/sync.ts';

// Not a test: takes the pictures in docs/screenshots from the running app with a sample statement imported.

const folder = fileURLToPath(new URL('../../../docs/screenshots/', import.meta.url));

const windows = [
  { name: 'wide', viewport: { width: 1280, height: 900 } },
  { name: 'narrow', viewport: { width: 360, height: 740 } },
] as const;

for (const { name, viewport } of windows) {
  test(`takes screenshots of the main pages, ${name}`, async ({ newPerson }) => {
    const { page } = await newPerson({ viewport });
    // The statement ends in the past, so the screenshots show that month.
    await page.clock.setFixedTime(new Date('2025-05-20T10:00:00Z'));
    await page.reload();
    await goTo(page, 'Import');
    await fillAccountForm(page, { name: 'Meridian Giro', currency: 'EUR', opening: '1842.10' });
    await chooseFile(page, samples.meridian);
    await importPreviewed(page, 355);
    await expectUpToDate(page);
    await sortIntoCategories(page);
    await takePictures(page, name);
    const { page: other } = await newPerson({ link: await shareLink(page), viewport });
    await writeNotes(page, other);
    await page.screenshot({ path: `${folder}notes-${name}.png` });
    await nameAVersion(page, other);
    await page.screenshot({ path: `${folder}note-history-${name}.png` });
  });
}

/** Categorises payee by payee as a user would, but faster, through the client that the app exposes on the page. */
async function sortIntoCategories(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const { rockpool } = globalThis as unknown as {
      rockpool: { execute(sql: string, params: readonly string[]): Promise<unknown> };
    };
    const words = {
      Miete: 'starter-home',
      Strom: 'starter-bills',
      Haftpflicht: 'starter-bills',
      Mobilfunk: 'starter-bills',
      Brot: 'starter-groceries',
      Kartenzahlung: 'starter-groceries',
      Monatskarte: 'starter-transport',
      Kino: 'starter-leisure',
      Bücher: 'starter-leisure',
      Mittag: 'starter-eating-out',
      Abendessen: 'starter-eating-out',
      Rezept: 'starter-health',
      Lohn: 'starter-income',
      Geschenk: 'starter-children',
    };
    for (const [word, category] of Object.entries(words))
      await rockpool.execute("UPDATE entries SET categoryId = ? WHERE notes LIKE '%' || ? || '%'", [category, word]);
  });
}

async function takePictures(page: Page, name: string): Promise<void> {
  const take = async (subject: string): Promise<void> =>
    void (await page.screenshot({ path: `${folder}${subject}-${name}.png` }));
  await openAccount(page, 'Meridian Giro');
  await expect(page.locator('tr[data-entry]').first()).toBeVisible();
  await take('ledger');
  await goTo(page, 'Budget');
  for (const [category, amount] of [
    ['Groceries', '450'],
    ['Home', '1200'],
    ['Leisure', '80'],
    ['Transport', '120'],
  ] as const) {
    const field = page.getByRole('textbox', { name: `Assigned to ${category}` });
    await field.fill(amount);
    await field.press('Enter');
  }
  await expect(page.getByRole('textbox', { name: 'Assigned to Transport' })).toHaveValue('120.00');
  await expectUpToDate(page);
  await closeToast(page);
  await goTo(page, 'Budget');
  await expect(page.getByRole('textbox', { name: 'Assigned to Transport' })).toHaveValue('120.00');
  await take('budget');
  for (const subject of ['Accounts', 'Share'] as const) {
    await goTo(page, subject);
    await expect(page.getByRole('heading', { level: 1, name: subject })).toBeVisible();
    await expect(page.getByRole('main').getByRole('listitem').first()).toBeVisible();
    await take(subject.toLowerCase());
  }
  await openSyncPage(page);
  await take('sync');
  await lookBackAndTryAPlan(page, take);
  await goTo(page, 'Reports');
  for (const report of ['Spending', 'Cash flow', 'Net worth']) {
    await page.getByRole('navigation', { name: 'Reports' }).getByRole('link', { name: report }).click();
    const chart = page.getByRole('group', { name: /each month/ });
    await chart.getByRole('button').nth(-2).hover();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await take(`${report.toLowerCase().replace(' ', '-')}${colorScheme === 'dark' ? '-dark' : ''}`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await goTo(page, 'Import');
  await chooseFile(page, samples.harbour);
  await expect(page.getByRole('table', { name: 'Preview' })).toBeVisible();
  await take('import');
}

/** The history of an entry, the budget as it was then, and a what-if that is compared with today. */
async function lookBackAndTryAPlan(page: Page, take: (subject: string) => Promise<void>): Promise<void> {
  await openAccount(page, 'Meridian Giro');
  const entry = page.getByRole('button', { name: /^Edit / }).first();
  await entry.click();
  const form = page.getByRole('form', { name: 'Edit entry' });
  await form.getByLabel(/^Amount in /).fill('24.90');
  await form.getByLabel('Memo').fill('with the discount');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toBeHidden();
  await expectUpToDate(page);
  await closeToast(page);
  await openAccount(page, 'Meridian Giro');
  await entry.click();
  await form.getByRole('button', { name: 'History' }).click();
  const history = page.getByRole('region', { name: /^History of/ });
  await expect(history.getByRole('listitem')).not.toHaveCount(0);
  await take('entry-history');
  await history.getByRole('listitem').nth(1).getByRole('link', { name: 'Budget at this time' }).click();
  await expect(page.getByRole('status', { name: 'Past state' })).toBeVisible();
  await goTo(page, 'Budget');
  // The past state has a date of the server's clock, which `page.clock` does not set, so the page opens at the real
  // month.
  const now = new Date();
  const monthsSinceJune2025 = (now.getFullYear() - 2025) * 12 + now.getMonth() - 5;
  for (let month = 0; month < monthsSinceJune2025; month++)
    await page.getByRole('button', { name: 'Previous month' }).click();
  await expect(page.getByRole('table', { name: /^Budget of June 2025/ })).toBeVisible();
  await take('past-budget');
  await page.getByRole('link', { name: 'Back to today' }).click();
  await goTo(page, 'What if');
  await page.getByRole('button', { name: 'Start a what-if' }).click();
  for (const [category, amount] of [
    ['Groceries', '420'],
    ['Leisure', '150'],
  ] as const) {
    const field = page.getByRole('textbox', { name: `Assigned to ${category}` });
    await field.fill(amount);
    await field.press('Enter');
    await expect(field).toHaveValue(`${amount}.00`);
  }
  await page.getByRole('link', { name: 'Compare with today' }).click();
  await expect(page.getByRole('table', { name: /^Available in/ })).toBeVisible();
  await take('what-if');
  await page.emulateMedia({ colorScheme: 'dark' });
  await take('what-if-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('link', { name: 'Back to today' }).click();
}

/** A formatted note with another user's cursor in it. */
async function writeNotes(page: Page, other: Page): Promise<void> {
  const notesOf = (who: Page): Locator => who.getByRole('textbox', { name: 'Notes of this budget' });
  await goTo(page, 'Notes');
  await page.getByRole('button', { name: 'Start writing' }).click();
  await notesOf(page).evaluate((element) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData(
      'text/html',
      '<h2>Summer</h2><p>A week at the <b>lake</b>, if Leisure gets there.</p><ul><li>tent</li><li>the big pan</li></ul><h2>Who pays what</h2><p>Rent and bills from the giro account, <i>food with the card</i>.</p>',
    );
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  });
  await expectUpToDate(page);
  await goTo(other, 'Share');
  await other.getByRole('textbox', { name: 'The name that others see' }).fill('Anna');
  await other.getByRole('button', { name: 'Save name' }).click();
  await goTo(other, 'Notes');
  await notesOf(other).getByText('the big pan').click();
  await other.keyboard.press('End');
  await expect(page.locator('.note-cursor')).toHaveText(['Anna']);
}

/** The history of the note, with what another user added to a named version. */
async function nameAVersion(page: Page, other: Page): Promise<void> {
  const history = page.getByRole('region', { name: 'History of Notes of this budget' });
  const versions = history.getByRole('listitem');
  const open = (): Promise<void> => page.getByRole('button', { name: 'History', exact: true }).click();
  await open();
  await versions.last().getByRole('button', { name: 'Name …' }).click();
  await history.getByLabel('Name of this version').fill('Before the trip');
  await history.getByRole('button', { name: 'Save' }).click();
  await expect(versions.last()).toContainText('Before the trip');
  await expectUpToDate(page);
  await other.keyboard.type(' and its lid');
  await expectUpToDate(other);
  await closeToast(page);
  await goTo(page, 'Notes');
  await open();
  await expect(versions).toHaveCount(2);
  await versions.first().getByRole('button', { name: 'Show' }).click();
  await expect(versions.first().getByRole('insertion')).toContainText('its lid');
}

/** Closes the toast for the last action, which covers part of the page for some seconds, by going to another page. */
async function closeToast(page: Page): Promise<void> {
  await goTo(page, 'Look back');
  await expect(toast(page)).toBeEmpty();
}
