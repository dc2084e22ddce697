import { expect, type Locator, type Page } from 'playwright/test';

/**
 * From a network that is back to everything sent and received: a retry comes within seconds, and the machine may be
 * busy.
 */
const settledTimeoutMs = 60_000;

/** What the badge says: where sync stands, and what waits to be sent. */
export function syncBadge(page: Page): Locator {
  return page.getByRole('status', { name: /^Sync: / });
}

export async function expectUpToDate(page: Page): Promise<void> {
  await expect(syncBadge(page)).toHaveText('Up to date', { timeout: settledTimeoutMs });
}

/** Opens the page that says how the budget is kept and sent. */
export async function openSyncPage(page: Page): Promise<void> {
  await syncBadge(page).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sync and storage' })).toBeVisible();
}

/** The list of what was changed on two devices at once, on the page about sync. */
export function conflicts(page: Page): Locator {
  return page.getByRole('main').getByRole('listitem').filter({ hasText: ' replaced ' });
}
