import type { ReactNode } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { AccountForm } from '../accounts/account-form.tsx';
import { addAccount } from '../accounts/actions.ts';
import { addCategory } from '../categories/actions.ts';
import { DeleteCategoryForm } from '../categories/delete-category-form.tsx';
import { RowCorrection } from '../import/row-correction.tsx';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { ReconcileBar } from '../reconcile/reconcile-bar.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
  await addAccount(app.client, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  await addCategory(app.client, 'Food', 'spending');
});

afterEach(() => app.close());

const row = { rowNumber: 1, cells: ['a'], draft: undefined, problems: [], duplicate: false, alike: null };
const forms: readonly (readonly [
  string,
  (given: { account: AccountRow; category: CategoryRow; leave: () => void }) => ReactNode,
])[] = [
  ['a new account', ({ leave }) => <AccountForm onDone={leave} />],
  ['reconciling', ({ account, leave }) => <ReconcileBar account={account} onDone={leave} />],
  [
    'deleting a category',
    ({ category, leave }) => <DeleteCategoryForm category={category} categories={[category]} onDone={leave} />,
  ],
  [
    'correcting a row',
    ({ leave }) => (
      <RowCorrection row={row} columns={[{ column: 0, name: 'Date' }]} onCorrect={vi.fn()} onCancel={leave} />
    ),
  ],
];

it.each(forms)('Escape cancels the form of %s', async (_, form) => {
  const [account] = await app.client.query<AccountRow>(accountsWithBalances);
  const [category] = await app.client.query<CategoryRow>(categoriesByName);
  if (account === undefined || category === undefined) throw new Error('no rows');
  const leave = vi.fn();
  app.show('page', form({ account, category, leave }));
  await expect.poll(() => app.container.querySelector('form')?.contains(document.activeElement)).toBe(true);
  await userEvent.keyboard('{Escape}');
  expect(leave).toHaveBeenCalledOnce();
});
