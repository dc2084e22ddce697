import { afterEach, beforeEach, expect, it } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addAccount } from '../accounts/actions.ts';
import { makeBudget } from '../budget/budget.ts';
import { addEntry } from '../entries/actions.ts';
import { formatMonth, today } from '../shell/locale.ts';
import { ReportsView } from './reports-view.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

it.each([
  ['2020-03-15', '2020-03'],
  ['2999-03-15', today().slice(0, 7)],
])('a report ends with the last month that has entries, or the current one: %s', async (date, month) => {
  const accountId = await addAccount(app.client, { name: 'A', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  await addEntry(app.client, accountId, { date, payee: 'Kiosk', notes: '', categoryId: null, amountMinor: -100 });
  app.show('reports', <ReportsView budget={makeBudget()} page="breakdown" />);
  const upTo = (): string =>
    app.container.querySelectorAll<HTMLSelectElement>('.period-choice select')[1]?.selectedOptions[0]?.textContent ??
    '';
  await expect.poll(upTo).toBe(formatMonth(month));
});
