import type { Page } from 'playwright/test';
import { goTo } from './navigation.ts';

/** A link that lets one person join. */
export async function invite(page: Page, role: 'viewer' | 'editor' | 'owner'): Promise<string> {
  await goTo(page, 'Share');
  await page.getByRole('combobox', { name: 'As', exact: true }).selectOption(role);
  await page.getByRole('button', { name: 'Create link' }).click();
  return await page.getByRole('textbox', { name: 'Invitation' }).inputValue();
}

/** Accepts the open invitation. */
export async function join(page: Page, name: string): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Join' }).click();
}
