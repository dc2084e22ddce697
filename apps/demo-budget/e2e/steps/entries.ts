import { expect, type Locator, type Page } from 'playwright/test';

/** Form values as a user enters them; omitted fields keep the form's defaults. */
export interface EntryInput {
  readonly payee?: string;
  readonly amount?: string;
  readonly notes?: string;
  readonly date?: string;
  readonly category?: string;
}

export async function addEntry(page: Page, entry: EntryInput): Promise<void> {
  await page.getByRole('button', { name: 'New entry' }).click();
  const form = page.getByRole('form', { name: 'New entry' });
  await fillEntryForm(form, entry);
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(form).toBeHidden();
}

/** Edits fields of a payee's entry in the current ledger. */
export async function changeEntry(page: Page, payee: string, entry: EntryInput): Promise<void> {
  await entryButton(page, payee).click();
  const form = page.getByRole('form', { name: 'Edit entry' });
  await fillEntryForm(form, entry);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toBeHidden();
}

/** One part of a split entry, as typed. */
export interface PartInput {
  readonly category: string;
  readonly amount: string;
}

/** Splits the entry in the form; the form fills in the last part's amount if it is left empty. */
export async function splitInto(form: Locator, parts: readonly PartInput[]): Promise<void> {
  await form.getByRole('button', { name: 'Split', exact: true }).click();
  for (const [index, { category, amount }] of parts.entries()) {
    if (index > 1) await form.getByRole('button', { name: 'Add a part' }).click();
    await form.getByLabel(`Category of part ${index + 1}`).selectOption({ label: category });
    await form.getByLabel(`Amount of part ${index + 1}`).fill(amount);
  }
}

/** Transfers money from the current account to another account. */
export async function addTransfer(page: Page, toAccount: string, amount: string): Promise<void> {
  await page.getByRole('button', { name: 'New entry' }).click();
  const form = page.getByRole('form', { name: 'New entry' });
  await form.getByRole('button', { name: 'Transfer', exact: true }).click();
  await form.getByLabel('To account').selectOption({ label: toAccount });
  await form.getByLabel(/^Amount in /).fill(amount);
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(form).toBeHidden();
}

/** The toast for the last action, with its "Undo" button. */
export function toast(page: Page): Locator {
  return page.getByRole('status', { name: 'Last change' });
}

export async function fillEntryForm(
  form: Locator,
  { payee, amount, notes, date, category }: EntryInput,
): Promise<void> {
  if (date !== undefined) await form.getByLabel('Date').fill(date);
  if (payee !== undefined) await form.getByLabel('Payee').fill(payee);
  if (amount !== undefined) await form.getByLabel(/^Amount in /).fill(amount);
  if (notes !== undefined) await form.getByLabel('Memo').fill(notes);
  if (category !== undefined) await form.getByLabel('Category').selectOption({ label: category });
}

/** The row of a payee in the current ledger: date, payee and notes, category, amount, balance. */
export function ledgerRow(page: Page, payee: string): Locator {
  return page
    .getByRole('table', { name: /^Entries of / })
    .getByRole('row')
    .filter({ has: entryButton(page, payee) });
}

/** All rows of the ledger as text, each with its running balance. */
export async function ledgerText(page: Page): Promise<string[]> {
  return await page
    .getByRole('table', { name: /^Entries of / })
    .getByRole('row')
    .allInnerTexts();
}

/** The buttons that open the entries of a payee. */
export function entryButton(page: Page, payee: string): Locator {
  return page.getByRole('button', { name: /^(Edit|Show) / }).filter({ has: page.getByText(payee, { exact: true }) });
}
