import { createClient } from '@rockpool/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addAccount } from '../accounts/actions.ts';
import { makeBudget } from '../budget/budget.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { schema } from '../schema.ts';
import { readChosenFile, type ChosenFile } from './chosen-file.ts';
import { ReviewStep } from './review-step.tsx';

let app: InApp;
let account: AccountRow;
let given: (ChosenFile | null)[];

beforeEach(async () => {
  app = await inApp();
  given = [];
  await addAccount(app.client, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  [account] = (await app.client.query<AccountRow>(accountsWithBalances)) as [AccountRow];
});

afterEach(() => app.close());

async function review(fileName: string, text: string): Promise<void> {
  const file = await readChosenFile(fileName, new Blob([text]));
  if (!file.ok) throw new Error(file.problem.code);
  app.show(
    'import',
    <ReviewStep
      key={fileName}
      budget={makeBudget()}
      account={account}
      file={file.value}
      onFile={(next) => given.push(next)}
    />,
  );
}

const first = 'Date,Payee,Amount\n2025-01-30,Rent,-900.00\n2025-01-31,Coffee,-3.50\n';
const second = 'Date,Payee,Amount\n2025-02-01,Bakery,-2.50\n';
const buttonOf = (text: string): HTMLButtonElement | undefined =>
  [...app.container.querySelectorAll('button')].find((button) => button.textContent === text);
const click = async (text: string): Promise<void> => {
  await expect.poll(() => buttonOf(text)?.disabled).toBe(false);
  buttonOf(text)?.click();
};
const textOf = (label: string): string => app.container.querySelector(`[aria-label="${label}"]`)?.textContent ?? '';
const pressUndo = (): boolean => dispatchEvent(new KeyboardEvent('keydown', { key: 'z', ctrlKey: true }));
const payees = async (): Promise<unknown[]> =>
  (await app.client.query('SELECT payee FROM entries ORDER BY date')).map(({ payee }) => payee);

it('the undo shortcut removes an import, with its profile, and leaves its page; then it undoes the action before', async () => {
  await review('first.csv', first);
  await click('Import 2 entries');
  await expect.poll(() => buttonOf('Undo import')).toBeDefined();
  expect(await payees()).toEqual(['Rent', 'Coffee']);
  pressUndo();
  await expect.poll(() => textOf('Last change')).toBe('Import undone: 2 entries removed.');
  expect(given).toEqual([null]);
  const rowsOf = async (table: string): Promise<unknown[]> => await app.client.query(`SELECT id FROM ${table}`);
  expect([await payees(), await rowsOf('importProfiles'), await rowsOf('accounts')]).toMatchObject([[], [], [{}]]);
  pressUndo();
  await expect.poll(() => textOf('Last change')).toContain('Undone.');
  expect(await rowsOf('accounts')).toEqual([]);
});

it('the undo shortcut removes the second of two imports, then the first, and nothing more', async () => {
  for (const [fileName, text, count] of [
    ['first.csv', first, '2 entries'],
    // Read like the first, so that the stored profile stays the same.
    ['second.csv', second, '1 entry'],
  ] as const) {
    await review(fileName, text);
    await click(`Import ${count}`);
    await expect.poll(() => buttonOf('Undo import')).toBeDefined();
  }
  pressUndo();
  await expect.poll(() => textOf('Last change')).toBe('Import undone: 1 entry removed.');
  expect(await payees()).toEqual(['Rent', 'Coffee']);
  expect(await app.client.query('SELECT id FROM importProfiles')).toHaveLength(1);
  pressUndo();
  await expect.poll(() => textOf('Last change')).toBe('Import undone: 2 entries removed.');
  expect(await payees()).toEqual([]);
  expect(await app.client.query('SELECT id FROM accounts')).toHaveLength(1);
});

it('the undo shortcut removes an import whose entries another tab has changed, except reconciled ones', async () => {
  await app.close();
  app = await inApp('durable');
  await addAccount(app.client, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  [account] = (await app.client.query<AccountRow>(accountsWithBalances)) as [AccountRow];
  const other = await createClient({ name: app.client.name, schema });
  await review('first.csv', first);
  await click('Import 2 entries');
  await expect.poll(() => buttonOf('Undo import')).toBeDefined();
  await other.execute("UPDATE entries SET status = 'reconciled' WHERE payee = 'Rent'");
  pressUndo();
  await expect.poll(() => textOf('Last change')).toBe('Import undone: 1 entry removed.');
  expect(await payees()).toEqual(['Rent']);
  await other.close();
});

it('the undo shortcut removes an import and keeps the next file, which is under review', async () => {
  await review('first.csv', first);
  await click('Import 2 entries');
  await expect.poll(() => buttonOf('Undo import')).toBeDefined();
  await review('second.csv', second);
  await expect.poll(() => buttonOf('Import 1 entry')).toBeDefined();
  pressUndo();
  await expect.poll(payees).toEqual([]);
  await expect.poll(() => textOf('Last change')).toContain('Import undone');
  expect(given).toEqual([]);
});
