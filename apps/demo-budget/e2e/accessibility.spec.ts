import type { Locator, Page } from 'playwright/test';
import { seriousViolations } from '../../../tests/kit/serious-violations.ts';
import { pages, type Page as PageName } from '../src/shell/navigation.ts';
import { refusedStorage } from './harness/storage-faults.ts';
import { isThorough } from './harness/level.ts';
import { expect, test } from './harness/test.ts';
import { fillAccountForm, openAccount } from './steps/accounts.ts';
import { chooseFile, importPreviewed, samples } from './steps/import.ts';
import { expectNoSidewaysScroll, expectNothingClipped } from './steps/layout.ts';
import { goTo } from './steps/navigation.ts';
import { invite } from './steps/share.ts';

/** An element that shows each page has loaded. A page missing from this list does not compile. */
const landmarks: Readonly<Record<PageName, (page: Page) => Locator>> = {
  accounts: (page) => page.getByRole('main').getByRole('link', { name: /Giro/ }),
  envelopes: (page) => page.getByRole('table', { name: /^Budget of/ }),
  entries: (page) => page.getByRole('table', { name: /^Entries of/ }),
  import: (page) => page.getByLabel('Bank statement'),
  export: (page) => page.getByRole('button', { name: 'Save Entries as CSV' }),
  'look-back': (page) => page.getByRole('form', { name: 'Choose a day' }),
  deleted: (page) => page.getByRole('heading', { level: 1, name: 'Deleted entries' }),
  'what-if': (page) => page.getByRole('button', { name: 'Start a what-if' }),
  reports: (page) => page.getByRole('group', { name: /each month/ }),
  'cash-flow': (page) => page.getByRole('group', { name: /each month/ }),
  'net-worth': (page) => page.getByRole('group', { name: /each month/ }),
  breakdown: (page) => page.getByRole('table', { name: /^Spending by payee/ }),
  schedules: (page) => page.getByRole('heading', { level: 1, name: 'Scheduled' }),
  notes: (page) => page.getByRole('button', { name: 'Start writing' }),
  categories: (page) => page.getByRole('form', { name: 'New category' }),
  rules: (page) => page.getByRole('searchbox', { name: 'Search payees' }),
  sync: (page) => page.getByRole('heading', { level: 1, name: 'Sync and storage' }),
  share: (page) => page.getByRole('textbox', { name: 'Share link' }),
  how: (page) => page.getByRole('heading', { level: 1, name: 'How this works' }),
};

const schemes = ['light', 'dark'] as const;

const wide = { width: 1280, height: 900 };
const narrow = { width: 360, height: 740 };

/** `npm test` checks one width in one scheme; `npm run verify` checks both schemes at both widths. */
const windows = isThorough
  ? [wide, narrow].map((viewport) => ({ viewport, schemes }))
  : [{ viewport: wide, schemes: ['light'] as const }];

for (const { viewport, schemes: viewportSchemes } of windows) {
  test(`no page ${viewport.width} px wide has serious axe violations, clipped text or sideways scrolling`, async ({
    newPerson,
  }) => {
    test.slow(); // axe checks every element of twenty pages
    const { page } = await newPerson({ viewport });
    const found: string[] = [];
    const look = async (name: string, looked: Page = page): Promise<void> => {
      await expectNoSidewaysScroll(looked, name);
      await expectNothingClipped(looked, name);
      for (const colorScheme of viewportSchemes) {
        await looked.emulateMedia({ colorScheme });
        found.push(...(await seriousViolations(looked)).map((violation) => `${name}, ${colorScheme}: ${violation}`));
      }
    };
    await expect(page.getByRole('heading', { name: 'A budget that lives on your device' })).toBeVisible();
    await look('welcome');
    await goTo(page, 'Import');
    await fillAccountForm(page, { name: 'Giro', currency: 'EUR', opening: '1842.10' });
    await chooseFile(page, samples.meridian);
    await expect(page.getByRole('table', { name: 'Preview' })).toBeVisible();
    await look('preview');
    await importPreviewed(page, 355);
    await openAccount(page, 'Giro');

    for (const name of pages) {
      await page.evaluate((to) => {
        const params = new URLSearchParams(location.hash.slice(1));
        params.set('page', to);
        location.hash = params.toString();
      }, name);
      await expect(landmarks[name](page)).toBeVisible();
      // The sync history of a long day scrolls. The history in this test is short, so the test limits the height of
      // the list to make it scroll.
      if (name === 'sync') await page.locator('.sync-history').evaluate((list) => (list.style.maxHeight = '1rem'));
      await look(name);
    }

    // Forms and dialogs that open on pages.
    await openAccount(page, 'Giro');
    await page
      .getByRole('button', { name: /^Add a note on / })
      .first()
      .focus();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('textbox', { name: /^Note on / })).toBeFocused();
    await look('note of an entry');
    await page.keyboard.press('Escape');
    await page
      .getByRole('button', { name: /^Edit / })
      .first()
      .click();
    await page.getByRole('form', { name: 'Edit entry' }).getByRole('button', { name: 'History' }).click();
    await expect(page.getByRole('region', { name: /^History of/ }).getByRole('listitem')).toHaveCount(1);
    await look('history of an entry');
    await page.getByRole('link', { name: 'Budget at this time' }).click();
    await expect(page.getByRole('status', { name: 'Past state' })).toBeVisible();
    await look('past state');
    await goTo(page, 'Budget');
    await expect(page.getByRole('table', { name: /^Budget of/ })).toBeVisible();
    await look('past budget');
    await page.getByRole('link', { name: 'Back to today' }).click();
    await goTo(page, 'What if');
    await page.getByRole('button', { name: 'Start a what-if' }).click();
    await page.getByRole('textbox', { name: 'Assigned to Groceries' }).fill('25');
    await page.keyboard.press('Enter');
    await look('what-if');
    await page.getByRole('link', { name: 'Compare with today' }).click();
    await expect(page.getByRole('table', { name: /^Available in/ })).toBeVisible();
    await look('comparison');
    await page.getByRole('button', { name: 'Discard …' }).click();
    await page.getByRole('button', { name: 'Discard it' }).click();
    await expect(page.getByRole('status').filter({ hasText: 'discarded' })).toBeVisible();
    await look('what-if discarded');
    await openAccount(page, 'Giro');
    await page.getByRole('button', { name: 'New entry' }).click();
    await page.getByRole('form', { name: 'New entry' }).getByRole('button', { name: 'Split', exact: true }).click();
    await look('entry form');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
    await look('keys');
    await page.keyboard.press('Escape');
    await goTo(page, 'Budget');
    await page.getByText(/^Month-end walk/).click();
    await page
      .getByRole('button', { name: /^Goal for / })
      .first()
      .click();
    await look('goal form and month-end walk');
    await goTo(page, 'Payees');
    await page.getByRole('button', { name: 'New rule' }).click();
    const rule = page.getByRole('form', { name: 'New rule' });
    await rule.getByLabel('Value of condition 1').fill('a');
    await rule.getByRole('button', { name: 'Add a condition' }).click();
    await rule.getByLabel('Value of condition 2').fill('b');
    await rule.getByRole('button', { name: 'Split instead' }).click();
    await expect(rule.getByRole('region', { name: 'Matching entries' })).toBeVisible();
    await look('rule form');
    await goTo(page, 'How this works');
    await page.getByRole('button', { name: 'Show the SQL on every page' }).click();
    await goTo(page, 'Budget');
    const inspector = page.getByRole('complementary', { name: 'Queries of this page' });
    await inspector.getByRole('row').getByRole('button').first().click();
    await expect(inspector.getByRole('list', { name: 'Query plan' })).toBeVisible();
    await look('SQL inspector');
    await inspector.getByRole('button', { name: 'Close', exact: true }).click();
    await goTo(page, 'Notes');
    await page.getByRole('button', { name: 'Start writing' }).click();
    await page.getByRole('textbox', { name: 'Notes of this budget' }).click();
    await page.keyboard.type('Summer');
    for (const name of ['Heading', 'Strikethrough']) await page.getByRole('button', { name, exact: true }).click();
    await look('notes, begun');
    await page.getByRole('button', { name: 'History', exact: true }).click();
    await page.getByRole('button', { name: 'Show', exact: true }).first().click();
    await expect(page.getByRole('document', { name: /^Notes of this budget on/ })).toContainText('Summer');
    await look('history of a note');
    await goTo(page, 'Reports');
    for (const name of ['Spending', 'Cash flow', 'Net worth']) {
      await page.getByRole('navigation', { name: 'Reports' }).getByRole('link', { name }).click();
      const chart = page.getByRole('group', { name: /each month/ });
      // Keyboard only: move to the chart, along its columns, and to the entries behind a month.
      await chart.getByRole('button').last().focus();
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('Enter');
      await expect(page.getByRole('region', { name: / in May 2025$/ })).toBeVisible();
      await page.getByText('Show as a table').click();
      await look(`${name}, as a table`);
    }

    // Pages shown before a budget is open.
    const invited = await newPerson({ viewport, link: await invite(page, 'viewer') });
    await expect(invited.page.getByRole('form', { name: 'Join a budget' })).toBeVisible();
    await look('invitation', invited.page);
    const refused = await newPerson({ viewport, scriptPrefix: refusedStorage });
    await expect(refused.page.getByRole('alert')).toContainText('This is a private window');
    await look('storage refused', refused.page);
    expect(found).toEqual([]);
  });
}
