import { afterEach, beforeEach, expect, it } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { makeBudget } from '../budget/budget.ts';
import { AccountsView } from './accounts-view.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

const buttons = (): (string | null)[] =>
  [...app.container.querySelectorAll('button')].map(({ textContent }) => textContent);

it('a budget that was opened by a link and has not arrived lets the user add an account', async () => {
  app.show('accounts', <AccountsView budget={{ ...makeBudget(), madeHere: false }} />);
  await expect.poll(() => app.container.textContent).toContain('No accounts yet.');
  expect(buttons()).toEqual(['New account']);
});

it('a new budget offers its first account once', async () => {
  app.show('accounts', <AccountsView budget={{ ...makeBudget(), madeHere: true }} />);
  await expect.poll(buttons).toContain('Add your first account');
  expect(buttons()).not.toContain('New account');
});
