import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addAccount } from '../accounts/actions.ts';
import { makeBudget } from '../budget/budget.ts';
import { addEntry } from './actions.ts';
import { EntriesView } from './entries-view.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
  const accountId = await addAccount(app.client, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  const fields = { date: '2026-01-31', payee: 'Kiosk', notes: 'paper', categoryId: null, amountMinor: -100 };
  for (const payee of ['Kiosk', 'Baker']) await addEntry(app.client, accountId, { ...fields, payee });
});

afterEach(() => app.close());

const form = 'form[aria-label="Edit entry"]';
const found = <T extends Element>(selector: string): T => {
  const element = app.container.querySelector<T>(selector);
  if (element === null) throw new Error(`no ${selector}`);
  return element;
};
const buttonOf = (name: string): HTMLButtonElement => {
  const button = [...app.container.querySelectorAll('button')].find(({ textContent }) => textContent === name);
  if (button === undefined) throw new Error(`no button ${name}`);
  return button;
};
const memo = (): HTMLTextAreaElement => found(`${form} textarea`);
const openEntry = async (): Promise<void> => {
  app.show('entries', <EntriesView budget={makeBudget()} accountId="" />);
  await expect.poll(() => app.container.querySelector('.entry-open')).not.toBeNull();
  found<HTMLButtonElement>('.entry-open').click();
  await expect.poll(() => app.container.querySelector(form)).not.toBeNull();
};

it.each(['Note', 'History'])('the button %s does not discard what was typed into the form', async (name) => {
  await openEntry();
  await userEvent.fill(memo(), 'typed');
  flushSync(() => buttonOf(name).click());
  expect(app.container.querySelector(`${form} [role="alert"]`)?.textContent).toBe('Save or cancel your changes first.');
  expect(memo().value).toBe('typed');
});

it('opening another entry does not discard what was typed into the form', async () => {
  await openEntry();
  await userEvent.fill(memo(), 'typed');
  flushSync(() => found<HTMLButtonElement>('.entry-open').click());
  expect(app.container.querySelector(`${form} [role="alert"]`)?.textContent).toBe('Save or cancel your changes first.');
  expect(memo().value).toBe('typed');
  flushSync(() => buttonOf('Cancel').click());
  flushSync(() => found<HTMLButtonElement>('.entry-open').click());
  await expect.poll(() => app.container.querySelector(form)).not.toBeNull();
});

it('unlocking a reconciled entry keeps what was typed into its form, and the focus', async () => {
  await app.client.execute("UPDATE entries SET status = 'reconciled'");
  await openEntry();
  await userEvent.fill(memo(), 'typed');
  flushSync(() => buttonOf('Unlock').click());
  await expect.poll(() => app.container.querySelector('.lock')).toBeNull();
  expect(memo().value).toBe('typed');
  await expect.poll(() => found(form).contains(document.activeElement)).toBe(true);
});
