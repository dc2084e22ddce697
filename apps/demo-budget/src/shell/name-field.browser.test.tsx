import { afterEach, beforeEach, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { addCategory, renameCategory, renameGroup } from '../categories/actions.ts';
import { CategoriesView } from '../categories/categories-view.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

const field = (name: string): HTMLInputElement | null =>
  app.container.querySelector<HTMLInputElement>(`[aria-label="Name of ${name}"]`);

it('a name that a user is typing stays when another device renames the category, and is saved', async () => {
  const id = await addCategory(app.client, 'Food', 'spending');
  app.show('categories', <CategoriesView />);
  await expect.poll(() => field('Food')).not.toBeNull();
  await userEvent.fill(field('Food') as HTMLInputElement, 'Typed');
  await renameCategory(app.client, id, 'Theirs');
  await expect.poll(() => field('Theirs')).not.toBeNull();
  expect(field('Theirs')?.value).toBe('Typed');
  expect(document.activeElement).toBe(field('Theirs'));
  await userEvent.keyboard('{Enter}');
  await expect.poll(() => field('Typed')?.value).toBe('Typed');
  await renameCategory(app.client, id, 'Later');
  await expect.poll(() => field('Later')?.value).toBe('Later');
});

it('a name that a user is typing stays when another device renames the group', async () => {
  await addCategory(app.client, 'Food', 'spending', 'Daily');
  app.show('categories', <CategoriesView />);
  await expect.poll(() => field('Daily')).not.toBeNull();
  await userEvent.fill(field('Daily') as HTMLInputElement, 'Typed');
  await renameGroup(app.client, 'Daily', 'Theirs');
  await expect.poll(() => field('Theirs')).not.toBeNull();
  expect(field('Theirs')?.value).toBe('Typed');
  expect(document.activeElement).toBe(field('Theirs'));
  await userEvent.keyboard('{Enter}');
  await expect.poll(() => field('Typed')?.value).toBe('Typed');
  await userEvent.fill(field('Food') as HTMLInputElement, 'Meals');
  await renameGroup(app.client, 'Typed', 'Later');
  await expect.poll(() => field('Later')?.value).toBe('Later');
  expect(field('Food')?.value).toBe('Meals');
  expect(document.activeElement).toBe(field('Food'));
});
