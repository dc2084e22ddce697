import { expect, type Locator, type Page } from 'playwright/test';

/** Assigns an amount to a category in the month that the page shows, and waits until its field has the amount. */
export async function assign(page: Page, category: string, amount: string): Promise<void> {
  const field = page.getByRole('textbox', { name: `Assigned to ${category}` });
  await field.fill(amount);
  await field.press('Enter');
  await expect(field).toHaveValue(new RegExp(`^${amount}`));
}

/** The buttons with the available amounts of a category, one for each month that the page shows. */
export function available(page: Page, category: string): Locator {
  return page.getByRole('button', { name: new RegExp(`^(Move money from|Cover overspending in) ${category}`) });
}
