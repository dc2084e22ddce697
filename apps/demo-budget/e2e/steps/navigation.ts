import type { Page } from 'playwright/test';

export async function goTo(page: Page, name: 'Accounts' | 'Budget' | 'Import' | 'Reports' | 'Scheduled' | 'Notes' | 'Categories' | 'Payees' | 'Share'): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
}

/** The link that this person would send to another. */
export async function shareLink(page: Page): Promise<string> {
  await goTo(page, 'Share');
  return await page.getByRole('textbox', { name: 'Share link' }).inputValue();
}
