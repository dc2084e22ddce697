import { afterEach, beforeEach, expect, it } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { makeBudget } from '../budget/budget.ts';
import { EntriesView } from './entries-view.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

it.each([
  ['', 'All accounts', 'No entries yet. Add an account first'],
  ['gone', 'Account not found', 'It may not have synced to this device yet. All accounts'],
])('without accounts, the ledger of account “%s” says %s', async (accountId, title, words) => {
  app.show('entries', <EntriesView budget={makeBudget()} accountId={accountId} />);
  await expect.poll(() => app.container.querySelector('h1')?.textContent).toBe(title);
  expect(app.container.querySelector('p')?.textContent).toBe(words);
});
