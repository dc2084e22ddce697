import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright/test';
import { expect, test } from './harness/test.ts';
import { fillAccountForm, openAccount } from './steps/accounts.ts';
import { chooseFile, importPreviewed, samples } from './steps/import.ts';
import { goTo } from './steps/navigation.ts';
import { openSyncPage } from './steps/sync.ts';

/** What axe counts as serious or worse, with where it is, so that a failure says what to do. */
async function seriousViolations(page: Page, rules: readonly string[] | null): Promise<string[]> {
  const axe = new AxeBuilder({ page });
  const { violations } = await (rules === null ? axe : axe.withRules([...rules])).analyze();
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary ?? ''}`));
}

for (const viewport of [{ width: 1280, height: 900 }, { width: 360, height: 740 }]) {
  test(`axe finds nothing serious on any page of ${viewport.width} px, light or dark`, async ({ newPerson }) => {
    test.slow(); // axe looks at every element of fifteen pages
    const { page } = await newPerson({ viewport });
    const found: string[] = [];
    const look = async (name: string): Promise<void> => {
      // In the dark only colours differ.
      for (const [colorScheme, rules] of [['light', null], ['dark', ['color-contrast']]] as const) {
        await page.emulateMedia({ colorScheme });
        found.push(...(await seriousViolations(page, rules)).map((violation) => `${name}, ${colorScheme}: ${violation}`));
      }
    };
    await expect(page.getByRole('heading', { name: 'A budget that lives on your device' })).toBeVisible();
    await look('welcome');
    await goTo(page, 'Import');
    await fillAccountForm(page, { name: 'Giro', currency: 'EUR', opening: '1842.10' });
    await expect(page.getByLabel('CSV, OFX or QFX file')).toBeVisible();
    await look('import');
    await chooseFile(page, samples.meridian);
    await expect(page.getByRole('table', { name: 'Preview' })).toBeVisible();
    await look('preview');
    await importPreviewed(page, 355);
    await openAccount(page, 'Giro');
    await look('ledger');
    await page.getByRole('button', { name: /^Begin a note on / }).first().focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('textbox', { name: /^Note on / })).toBeFocused();
    await look('note of an entry');
    await page.keyboard.press('Escape');
    for (const name of ['Accounts', 'Budget', 'Share'] as const) {
      await goTo(page, name);
      await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
      await look(name);
    }
    await goTo(page, 'Notes');
    await page.getByRole('button', { name: 'Begin the notes' }).click();
    await page.getByRole('textbox', { name: 'Notes of this budget' }).click();
    await page.keyboard.type('Summer');
    for (const name of ['Heading', 'Strike through']) await page.getByRole('button', { name, exact: true }).click();
    await look('notes');
    await goTo(page, 'Import');
    await page.getByRole('link', { name: 'Export' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Export' })).toBeVisible();
    await look('export');
    await goTo(page, 'Reports');
    for (const name of ['Spending', 'Cash flow', 'Net worth']) {
      await page.getByRole('navigation', { name: 'Reports' }).getByRole('link', { name }).click();
      const chart = page.getByRole('group', { name: /each month/ });
      // By keyboard alone: to the chart, along it, and to the entries behind a month.
      await chart.getByRole('button').last().focus();
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('Enter');
      await expect(page.getByRole('region', { name: / in May 2025$/ })).toBeVisible();
      await page.getByText('Show as a table').click();
      await look(name);
    }
    for (const name of ['scheduled', 'categories', 'rules'] as const) {
      const pageName = { scheduled: 'schedules', categories: 'categories', rules: 'rules' }[name];
      await page.evaluate((to) => (location.hash = location.hash.replace(/&page=[a-z-]+/, `&page=${to}`)), pageName);
      await expect(page.getByRole('heading', { level: 1, name: new RegExp(name, 'i') })).toBeVisible();
      await look(name);
    }
    await page.getByRole('button', { name: 'New rule' }).click();
    const rule = page.getByRole('form', { name: 'New rule' });
    await rule.getByLabel('What of condition 1').fill('a');
    await rule.getByRole('button', { name: 'Add a condition' }).click();
    await rule.getByLabel('What of condition 2').fill('b');
    await expect(rule.getByRole('region', { name: 'What it matches' })).toBeVisible();
    await look('rule');
    await openSyncPage(page);
    await look('sync');
    expect(found).toEqual([]);
  });
}
