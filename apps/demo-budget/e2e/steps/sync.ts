import { expect, type Locator, type Page } from 'playwright/test';

/** The badge's text: the sync state and the number of unsent changes. */
export function syncBadge(page: Page): Locator {
  return page.getByRole('status', { name: /^Sync: / });
}

export async function expectUpToDate(page: Page): Promise<void> {
  await expect(syncBadge(page)).toHaveText('Up to date');
}

/** Opens the page about storage and sync. */
export async function openSyncPage(page: Page): Promise<void> {
  await syncBadge(page).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sync and storage' })).toBeVisible();
}

/** The list of conflicts on the sync page. */
export function conflicts(page: Page): Locator {
  return page.getByRole('main').getByRole('listitem').filter({ hasText: ' replaced ' });
}
