import { expect, type Page } from 'playwright/test';

const CLICK_MS = 3_000;

export async function goTo(
  page: Page,
  name:
    | 'Accounts'
    | 'Budget'
    | 'Import'
    | 'Reports'
    | 'Scheduled'
    | 'Notes'
    | 'Categories'
    | 'Payees'
    | 'Look back'
    | 'What if'
    | 'Share'
    | 'How this works',
): Promise<void> {
  const list = page.getByRole('navigation', { name: 'Pages' });
  await expect(list).toBeVisible();
  const link = list.getByRole('link', { name });
  // In a narrow window most pages are behind a button. The menu closes if the app changes the page at this moment, for
  // example after a form was submitted, so this opens the menu again until the link could be clicked. A wide window has
  // no button, but no link either while the page reloads.
  await expect(async () => {
    if (!(await link.isVisible())) await list.getByRole('button', { name: 'More' }).click({ timeout: CLICK_MS });
    await link.click({ timeout: CLICK_MS });
  }).toPass();
}

/** The share link that this user would send to someone else. */
export async function shareLink(page: Page): Promise<string> {
  await goTo(page, 'Share');
  return await page.getByRole('textbox', { name: 'Share link' }).inputValue();
}
