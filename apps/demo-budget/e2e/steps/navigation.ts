import { expect, type Page } from 'playwright/test';

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
    | 'Share'
    | 'How this works',
): Promise<void> {
  const list = page.getByRole('navigation', { name: 'Pages' });
  await expect(list).toBeVisible();
  const link = list.getByRole('link', { name });
  // In a narrow window most pages are behind a button.
  if (!(await link.isVisible())) await list.getByRole('button', { name: 'More' }).click();
  await link.click();
}

/** The share link this user would send to another. */
export async function shareLink(page: Page): Promise<string> {
  await goTo(page, 'Share');
  return await page.getByRole('textbox', { name: 'Share link' }).inputValue();
}
