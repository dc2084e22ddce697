import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addAccount } from '../accounts/actions.ts';
import { makeBudget } from '../budget/budget.ts';
import { monthAfter, monthOfDay } from '../calendar/months.ts';
import { addCategory } from '../categories/actions.ts';
import { today } from '../shell/locale.ts';
import { assign } from './actions.ts';
import { EnvelopesView } from './envelopes-view.tsx';

let app: InApp;
const month = monthOfDay(today(), 1);

beforeEach(async () => {
  app = await inApp();
  await addAccount(app.client, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 100_000 });
  for (const name of ['Food', 'Fun']) {
    const categoryId = await addCategory(app.client, name, 'spending');
    await assign(app.client, [{ month, currency: 'EUR', categoryId, amountMinor: 5_000 }]);
  }
  app.show('envelopes', <EnvelopesView budget={makeBudget()} />);
  await expect.poll(() => assigned('Food')?.value).toBe('50.00');
});

afterEach(() => app.close());

const assigned = (name: string): HTMLInputElement | null =>
  app.container.querySelector<HTMLInputElement>(`[aria-label="Assigned to ${name}"]`);
const found = <T extends Element>(selector: string): T => {
  const element = app.container.querySelector<T>(selector);
  if (element === null) throw new Error(`no ${selector}`);
  return element;
};
const click = (selector: string): void => flushSync(() => found<HTMLElement>(selector).click());
const goTo = (way: 'Previous' | 'Next'): void => click(`[aria-label="${way} month"]`);
const alerts = (): (string | null)[] =>
  [...app.container.querySelectorAll('[role="alert"]')].map(({ textContent }) => textContent);
const form = (name: string): string => `form[aria-label="${name}"]`;

it('an unreadable amount is explained, and stays while the user looks at another month', async () => {
  await userEvent.fill(assigned('Food') as HTMLInputElement, '12x4');
  expect(alerts()).toEqual([]);
  await userEvent.keyboard('{Enter}');
  expect(alerts()).toEqual(['Food: Enter a valid amount.']);
  const field = assigned('Food');
  expect(document.getElementById(field?.getAttribute('aria-describedby') ?? '')).toBe(found('[role="alert"]'));
  goTo('Next');
  await expect.poll(() => assigned('Food')?.value).toBe('0.00');
  expect(alerts()).toEqual([]);
  goTo('Previous');
  await expect.poll(() => assigned('Food')?.value).toBe('12x4');
  expect(alerts()).toEqual(['Food: Enter a valid amount.']);
  await userEvent.fill(assigned('Food') as HTMLInputElement, '12');
  await userEvent.keyboard('{Enter}');
  await expect.poll(() => assigned('Food')?.value).toBe('12.00');
  expect(alerts()).toEqual([]);
});

it('opening another form keeps what was typed into the first', async () => {
  click('[aria-label="Goal for Food"]');
  await userEvent.fill(found(`${form('Goal for Food')} .amount-input`), '300');
  click('[aria-label="Goal for Fun"]');
  click('[aria-label^="Move money from Fun"]');
  await userEvent.fill(found(`${form('Move money from Fun')} .amount-input`), '20');
  click('[aria-label="Goal for Food"]');
  expect(found<HTMLInputElement>(`${form('Goal for Food')} .amount-input`).value).toBe('300');
  click(`${form('Goal for Food')} [type="submit"]`);
  await expect.poll(() => app.container.querySelector(form('Goal for Food'))).toBeNull();
  expect(app.container.querySelector(form('Goal for Fun'))).not.toBeNull();
  expect(found<HTMLInputElement>(`${form('Move money from Fun')} .amount-input`).value).toBe('20');
});

it('a form that moves money is shown only with its month, and keeps what was typed', async () => {
  click('[aria-label="Goal for Food"]');
  await userEvent.fill(found(`${form('Goal for Food')} .amount-input`), '300');
  click('[aria-label^="Move money from Food"]');
  await userEvent.fill(found(`${form('Move money from Food')} .amount-input`), '20');
  goTo('Next');
  await expect.poll(() => found(form('Move money from Food')).checkVisibility()).toBe(false);
  expect(found<HTMLInputElement>(`${form('Goal for Food')} .amount-input`).value).toBe('300');
  goTo('Previous');
  await expect.poll(() => found(form('Move money from Food')).checkVisibility()).toBe(true);
  expect(found<HTMLInputElement>(`${form('Move money from Food')} .amount-input`).value).toBe('20');
  goTo('Next');
  click('[aria-label^="Move money from Food"]');
  const [first, second] = app.container.querySelectorAll<HTMLFormElement>(form('Move money from Food'));
  expect([first?.checkVisibility(), second?.checkVisibility()]).toEqual([false, true]);
  await userEvent.fill(second?.querySelector('.amount-input') as HTMLInputElement, '5');
  flushSync(() => second?.requestSubmit());
  await expect
    .poll(() =>
      app.client.query(
        'SELECT month, name, sum(amountMinor) AS minor FROM assignments JOIN categories ON categories.id = categoryId GROUP BY month, name ORDER BY month, name',
      ),
    )
    .toEqual([
      { month, name: 'Food', minor: 5_000 },
      { month, name: 'Fun', minor: 5_000 },
      { month: monthAfter(month, 1), name: 'Food', minor: -500 },
      { month: monthAfter(month, 1), name: 'Fun', minor: 500 },
    ]);
});

it('closing a form returns the focus to the button that opened it', async () => {
  for (const [opener, name] of [
    ['[aria-label="Goal for Food"]', 'Goal for Food'],
    ['[aria-label^="Move money from Food"]', 'Move money from Food'],
  ] as const) {
    click(opener);
    expect(found(form(name)).contains(document.activeElement)).toBe(true);
    await userEvent.keyboard('{Escape}');
    expect(app.container.querySelector(form(name))).toBeNull();
    expect(document.activeElement).toBe(found(opener));
  }
});
