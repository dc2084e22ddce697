import { afterEach, beforeEach, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addAccount } from '../accounts/actions.ts';
import { makeBudget } from '../budget/budget.ts';
import '../styles/base.css';
import '../styles/layout.css';
import '../styles/tables.css';
import '../styles/tokens.css';
import { addEntry } from './actions.ts';
import { EntriesView } from './entries-view.tsx';
import './entries.css';
import './ledger-table.css';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

it.each([1280, 900, 360])('shows amounts and balances in full, %i px wide', async (width) => {
  await page.viewport(width, 800);
  const accountId = await addAccount(app.client, {
    name: 'Dinars',
    kind: 'checking',
    currency: 'KWD',
    openingMinor: -123_456_789,
  });
  for (const amountMinor of [-12_345_678, 12_345_678])
    await addEntry(app.client, accountId, {
      date: '2026-01-31',
      payee: 'Kiosk',
      notes: '',
      categoryId: null,
      amountMinor,
    });
  app.show('entries', <EntriesView budget={makeBudget()} accountId={accountId} />);
  const cells = (): HTMLElement[] => [...app.container.querySelectorAll<HTMLElement>('.entry-amount, .entry-balance')];
  await expect.poll(() => cells().length).toBe(4);
  const cut = cells().filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  expect(cut.map(({ textContent }) => textContent)).toEqual([]);
});
