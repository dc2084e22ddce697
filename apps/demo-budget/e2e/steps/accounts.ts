import { expect, type Page } from 'playwright/test';
import { goTo } from './navigation.ts';

export interface AccountFields {
  readonly name: string;
  readonly currency: string;
  /** The text that is typed into the field. */
  readonly opening?: string;
  /** The kind's label in the form; Checking by default. */
  readonly kind?: string;
}

/** Adds an account and opens its ledger. */
export async function addAccount(page: Page, account: AccountFields): Promise<void> {
  await goTo(page, 'Accounts');
  await page.getByRole('button', { name: /^(Add your first account|New account)$/ }).click();
  await fillAccountForm(page, account);
  await expect(page.getByRole('heading', { level: 1, name: account.name })).toBeVisible();
}

/** Fills in and submits the new-account form, on whichever page it is shown. */
export async function fillAccountForm(
  page: Page,
  { name, currency, opening = '', kind }: AccountFields,
): Promise<void> {
  const form = page.getByRole('form', { name: 'New account' });
  await form.getByLabel('Name').fill(name);
  if (kind !== undefined) await form.getByLabel('Kind').selectOption({ label: kind });
  await form.getByLabel('Currency').fill(currency);
  await form.getByLabel('Opening balance').fill(opening);
  await form.getByRole('button', { name: 'Add account' }).click();
}

/** Opens an account's ledger from the list of accounts. */
export async function openAccount(page: Page, name: string): Promise<void> {
  await goTo(page, 'Accounts');
  await page.getByRole('main').getByRole('listitem').getByRole('link', { name }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
}

/** The balance and the number of entries of the current ledger. */
export async function expectBalance(page: Page, amount: string, entries: string): Promise<void> {
  const head = page.getByRole('main').getByRole('paragraph').and(page.locator('.balance'));
  await expect(head).toContainText(amount);
  await expect(head).toContainText(entries);
}
