import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addAccount } from '../accounts/actions.ts';
import { makeBudget } from '../budget/budget.ts';
import { addRule, deleteRule } from '../rules/actions.ts';
import { RulesView } from '../rules/rules-view.tsx';
import { addSchedule, deleteSchedule } from '../schedules/actions.ts';
import { SchedulesView } from '../schedules/schedules-view.tsx';

let app: InApp;
let accountIds: string[];

beforeEach(async () => {
  app = await inApp();
  accountIds = [];
  for (const name of ['Giro', 'Purse'])
    accountIds.push(await addAccount(app.client, { name, kind: 'checking', currency: 'EUR', openingMinor: 0 }));
});

afterEach(() => app.close());

const found = <T extends Element>(selector: string): T => {
  const element = app.container.querySelector<T>(selector);
  if (element === null) throw new Error(`no ${selector}`);
  return element;
};
const click = (selector: string): void => flushSync(() => found<HTMLElement>(selector).click());
const schedule = (payee: string, otherAccountId: string | null = null): Promise<string> =>
  addSchedule(app.client, {
    accountId: accountIds[0] ?? '',
    otherAccountId,
    payee,
    notes: '',
    categoryId: null,
    amountMinor: -100,
    firstDate: '2999-01-01',
    every: 1,
    unit: 'month',
    lastDate: null,
  });
const open = async (page: string, view: ReactNode, opener: string): Promise<void> => {
  app.show(page, view);
  await expect.poll(() => app.container.querySelector(opener)).not.toBeNull();
  click(opener);
};
const scheduled = (): Promise<object[]> =>
  app.client.query(
    'SELECT schedules.id, payee, accounts.name AS account FROM schedules JOIN accounts ON accounts.id = accountId ORDER BY payee',
  );
const form = 'form[aria-label="Edit scheduled entry"]';

it.each([['Gym'], ['Rent']])(
  'the form of a scheduled entry that is deleted elsewhere keeps what was typed, and adds it again: %s',
  async (payee) => {
    const ids = new Map([
      ['Gym', await schedule('Gym')],
      ['Rent', await schedule('Rent')],
    ]);
    await open('schedules', <SchedulesView budget={makeBudget()} />, `[aria-label="Edit ${payee}"]`);
    await userEvent.fill(found(`${form} label.wide input`), 'Typed');
    for (const id of ids.values()) await deleteSchedule(app.client, id);
    await expect.poll(() => app.container.textContent).toContain('was deleted in the meantime');
    expect(document.activeElement).toBe(found(`${form} label.wide input`));
    expect(app.container.querySelector(`${form} .danger`)).toBeNull();
    click(`${form} button[type="submit"]`);
    await expect.poll(scheduled).toEqual([{ id: ids.get(payee), payee: 'Typed', account: 'Giro' }]);
    await expect.poll(() => app.container.querySelector(form)).toBeNull();
  },
);

it('opening a second scheduled entry keeps what was typed into the form of the first', async () => {
  for (const payee of ['Gym', 'Rent']) await schedule(payee);
  await open('schedules', <SchedulesView budget={makeBudget()} />, '[aria-label="Edit Rent"]');
  await userEvent.fill(found(`${form} label.wide input`), 'Typed');
  click('[aria-label="Edit Gym"]');
  const names = (): string[] =>
    [...app.container.querySelectorAll<HTMLInputElement>(`${form} label.wide:first-child input`)].map(
      ({ value }) => value,
    );
  expect(names()).toEqual(['Gym', 'Typed']);
  for (const button of app.container.querySelectorAll<HTMLButtonElement>(`${form} button[type="submit"]`))
    flushSync(() => button.click());
  await expect.poll(scheduled).toMatchObject([{ payee: 'Gym' }, { payee: 'Typed' }]);
});

it('the form of a scheduled entry whose account is closed elsewhere keeps what was typed, and asks for an account', async () => {
  const id = await schedule('Rent');
  await open('schedules', <SchedulesView budget={makeBudget()} />, '[aria-label="Edit Rent"]');
  await userEvent.fill(found(`${form} label.wide input`), 'Typed');
  await app.client.execute('UPDATE accounts SET closed = 1 WHERE id = ?', [accountIds[0] ?? '']);
  await expect.poll(() => app.container.textContent).toContain('Its account was closed or deleted in the meantime');
  expect(found<HTMLSelectElement>(`${form} select`).selectedOptions[0]?.textContent).toBe('Choose an account');
  click(`${form} button[type="submit"]`);
  expect(found(`${form} [role="alert"]`).textContent).toBe('Choose an account.');
  await userEvent.selectOptions(found(`${form} select`), 'Purse');
  click(`${form} button[type="submit"]`);
  await expect.poll(scheduled).toEqual([{ id, payee: 'Typed', account: 'Purse' }]);
});

it('closing the form of a row returns the focus to the row', async () => {
  const id = await schedule('Rent');
  await open('schedules', <SchedulesView budget={makeBudget()} />, '[aria-label="Edit Rent"]');
  await userEvent.keyboard('{Escape}');
  expect(document.activeElement).toBe(found('[aria-label="Edit Rent"]'));
  click('[aria-label="Edit Rent"]');
  await userEvent.fill(found(`${form} label.wide input`), 'Typed');
  await userEvent.keyboard('{Enter}');
  await expect.poll(scheduled).toEqual([{ id, payee: 'Typed', account: 'Giro' }]);
  await expect.poll(() => document.activeElement?.getAttribute('aria-label')).toBe('Edit Typed');
});

it('a scheduled transfer whose other account is closed elsewhere goes to no other account unless the user chooses one', async () => {
  const [giro = '', purse = ''] = accountIds;
  await addAccount(app.client, { name: 'Savings', kind: 'savings', currency: 'EUR', openingMinor: 0 });
  await schedule('', purse);
  await open('schedules', <SchedulesView budget={makeBudget()} />, '[aria-label^="Edit"]');
  await userEvent.fill(found(`${form} .amount-input`), '7');
  await app.client.execute('UPDATE accounts SET closed = 1 WHERE id = ?', [purse]);
  await expect.poll(() => app.container.textContent).toContain('Its account was closed or deleted in the meantime');
  const other = (): HTMLSelectElement => found(`${form} label.wide:nth-child(2) select`);
  expect(other().selectedOptions[0]?.textContent).toBe('Choose an account');
  click(`${form} button[type="submit"]`);
  expect(found(`${form} [role="alert"]`).textContent).toBe('Choose an account.');
  await userEvent.selectOptions(other(), 'Savings');
  click(`${form} button[type="submit"]`);
  await expect
    .poll(() =>
      app.client.query(
        'SELECT accountId, accounts.name AS other, amountMinor FROM schedules JOIN accounts ON accounts.id = otherAccountId',
      ),
    )
    .toEqual([{ accountId: giro, other: 'Savings', amountMinor: -700 }]);
});

it('the form of a rule that is deleted elsewhere keeps what was typed, and adds the rule again', async () => {
  const conditions = [{ field: 'payee', test: 'contains', value: 'kiosk' }] as const;
  const rule = { needs: 'all', conditions, categoryId: null, payee: 'Kiosk', notes: null, status: null } as const;
  const id = await addRule(app.client, { ...rule, split: [] });
  await open('rules', <RulesView />, '[aria-label^="Edit the rule"]');
  const editing = 'form[aria-label="Edit rule"]';
  const [payee] = app.container.querySelectorAll<HTMLInputElement>(`${editing} > .fields input`);
  await userEvent.fill(payee as HTMLInputElement, 'Typed');
  await deleteRule(app.client, id);
  await expect.poll(() => app.container.textContent).toContain('This rule was deleted in the meantime');
  expect(payee?.value).toBe('Typed');
  click(`${editing} button[type="submit"]`);
  await expect
    .poll(() => app.client.query('SELECT id, payee, value FROM rules'))
    .toEqual([{ id, payee: 'Typed', value: 'kiosk' }]);
  await expect.poll(() => app.container.querySelector(editing)).toBeNull();
});
