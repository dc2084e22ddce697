import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { assign } from '../envelopes/actions.ts';
import { addCategory, deleteCategory } from './actions.ts';
import { CategoriesView } from './categories-view.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

const form = 'form[aria-label="Delete Food"]';
const found = <T extends Element>(selector: string): T => {
  const element = app.container.querySelector<T>(selector);
  if (element === null) throw new Error(`no ${selector}`);
  return element;
};

it('assigned money does not move to a category that another device has deleted since it was chosen', async () => {
  const food = await addCategory(app.client, 'Food', 'spending');
  const fun = await addCategory(app.client, 'Fun', 'spending');
  await assign(app.client, [{ month: '2026-01', currency: 'EUR', categoryId: food, amountMinor: 5_000 }]);
  app.show('categories', <CategoriesView />);
  await expect.poll(() => app.container.querySelector('[aria-label="Delete Food …"]')).not.toBeNull();
  flushSync(() => found<HTMLButtonElement>('[aria-label="Delete Food …"]').click());
  await userEvent.selectOptions(found(`${form} select`), 'Fun');
  await deleteCategory(app.client, fun, null);
  await expect.poll(() => app.container.querySelectorAll(`${form} option`).length).toBe(1);
  expect(found<HTMLSelectElement>(`${form} select`).selectedOptions[0]?.textContent).toBe('No category');
  flushSync(() => found<HTMLButtonElement>(`${form} button[type="submit"]`).click());
  await expect.poll(() => app.client.query('SELECT id FROM categories WHERE deleted = 0')).toEqual([]);
  expect(await app.client.query('SELECT categoryId FROM assignments')).toEqual([]);
});
