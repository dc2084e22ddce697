import type { Locator, Page } from 'playwright/test';

/** The notice on every page of a what-if. */
export function banner(page: Page): Locator {
  return page.getByRole('status', { name: 'What-if' });
}
