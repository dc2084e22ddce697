import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addAccount } from '../accounts/actions.ts';
import { makeBudget } from '../budget/budget.ts';
import { addCategory } from '../categories/actions.ts';
import { addEntry } from './actions.ts';
import { EntriesView } from './entries-view.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
  for (const name of ['Giro', 'Purse'])
    await addAccount(app.client, { name, kind: 'checking', currency: 'EUR', openingMinor: 0 });
});

afterEach(() => app.close());

const entries = async (): Promise<unknown[]> =>
  await app.client.query(
    'SELECT accounts.name AS account, payee, amountMinor FROM entries JOIN accounts ON accounts.id = accountId ORDER BY payee',
  );
const found = <T extends Element>(selector: string): T => {
  const element = app.container.querySelector<T>(selector);
  if (element === null) throw new Error(`no ${selector}`);
  return element;
};
const newForm = 'form[aria-label="New entry"]';
const type = async (): Promise<void> => {
  await userEvent.fill(found(`${newForm} input[list]`), 'Baker');
  await userEvent.fill(found(`${newForm} .amount-input`), '3');
};

it('a new entry in the ledger of all accounts keeps its account and values while another entry is open', async () => {
  const [purse] = await app.client.query<{ readonly id: string }>("SELECT id FROM accounts WHERE name = 'Purse'");
  await addEntry(app.client, purse?.id ?? '', {
    date: '2026-01-31',
    payee: 'Kiosk',
    notes: '',
    categoryId: null,
    amountMinor: -100,
  });
  app.show('entries', <EntriesView budget={makeBudget()} accountId="" />);
  await expect.poll(() => app.container.querySelector('.entry-open')).not.toBeNull();
  flushSync(() => found<HTMLButtonElement>('.page-head button.primary').click());
  await type();

  found<HTMLButtonElement>('.entry-open').click();
  await expect.poll(() => app.container.querySelector('form[aria-label="Edit entry"]')).not.toBeNull();
  expect(found<HTMLInputElement>(`${newForm} .amount-input`).value).toBe('3');
  flushSync(() => found<HTMLButtonElement>(`${newForm} button[type="submit"]`).click());
  await expect.poll(entries).toEqual([
    { account: 'Giro', payee: 'Baker', amountMinor: -300 },
    { account: 'Purse', payee: 'Kiosk', amountMinor: -100 },
  ]);
});

it('a new entry keeps its values when the user chooses another account', async () => {
  app.show('entries', <EntriesView budget={makeBudget()} accountId="" />);
  await expect.poll(() => app.container.querySelector('.page-head button.primary')).not.toBeNull();
  flushSync(() => found<HTMLButtonElement>('.page-head button.primary').click());
  await type();
  await userEvent.selectOptions(found('.account-choice select'), 'Purse (EUR)');
  flushSync(() => found<HTMLButtonElement>(`${newForm} button[type="submit"]`).click());
  await expect.poll(entries).toEqual([{ account: 'Purse', payee: 'Baker', amountMinor: -300 }]);
});

it('a new entry keeps its values, and says so in plain words, if its category is deleted elsewhere', async () => {
  const categoryId = await addCategory(app.client, 'Food', 'spending');
  app.show('entries', <EntriesView budget={makeBudget()} accountId="" />);
  await expect.poll(() => app.container.querySelector('.page-head button.primary')).not.toBeNull();
  flushSync(() => found<HTMLButtonElement>('.page-head button.primary').click());
  await type();
  await userEvent.selectOptions(found(`${newForm} select.category`), 'Food');
  await app.client.execute('DELETE FROM categories WHERE id = ?', [categoryId]);
  await expect
    .poll(() => found<HTMLSelectElement>(`${newForm} select.category`).selectedOptions[0]?.textContent)
    .toBe('Unknown category');
  flushSync(() => found<HTMLButtonElement>(`${newForm} button[type="submit"]`).click());
  await expect.poll(() => app.container.querySelector('.failure p')).not.toBeNull();
  expect(found('.failure p').textContent).toBe(
    'A category or account that this uses was deleted in the meantime, so nothing was saved. Choose another one.',
  );
  expect(found<HTMLInputElement>(`${newForm} .amount-input`).value).toBe('3');
});
