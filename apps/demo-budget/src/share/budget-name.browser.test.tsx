import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { userEvent } from 'vitest/browser';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { setSetting } from '../settings/actions.ts';
import { useSettings } from '../settings/use-settings.ts';
import { BudgetName } from './budget-name.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

function CurrentName(): ReactNode {
  return <output>{useSettings().name}</output>;
}

const found = <T extends Element>(selector: string): T => {
  const element = app.container.querySelector<T>(selector);
  if (element === null) throw new Error(`no ${selector}`);
  return element;
};

it('the name that a user types for the budget stays when another device renames the budget', async () => {
  app.show(
    'share',
    <>
      <BudgetName />
      <CurrentName />
    </>,
  );
  const field = found<HTMLInputElement>('form input');
  await setSetting(app.client, 'name', 'Ours');
  await expect.poll(() => field.value).toBe('Ours');
  await userEvent.fill(field, 'Typed');
  await setSetting(app.client, 'name', 'Theirs');
  await expect.poll(() => found('output').textContent).toBe('Theirs');
  expect(field.value).toBe('Typed');
  flushSync(() => found<HTMLButtonElement>('form button').click());
  await expect.poll(() => found('output').textContent).toBe('Typed');
  await setSetting(app.client, 'name', 'Later');
  await expect.poll(() => field.value).toBe('Later');
});
