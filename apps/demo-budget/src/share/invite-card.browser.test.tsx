import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeBudget } from '../budget/budget.ts';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { InviteCard } from './invite-card.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(async () => {
  vi.unstubAllGlobals();
  await app.close();
});

function choose(role: string): void {
  const select = app.container.querySelector('select');
  if (select === null) throw new Error('no choice of roles');
  select.value = role;
  flushSync(() => select.dispatchEvent(new Event('change', { bubbles: true })));
}

function create(): void {
  flushSync(() => app.container.querySelector<HTMLButtonElement>('button.primary')?.click());
}

it('an invitation is never shown with a role other than its own', async () => {
  const responses: ((response: Response) => void)[] = [];
  vi.stubGlobal('fetch', () => new Promise<Response>((resolve) => responses.push(resolve)));
  app.show('share', <InviteCard budget={makeBudget()} />);
  const link = (): string => String(app.container.querySelector('input')?.value);
  choose('owner');
  create();
  choose('viewer');
  create();
  responses[1]?.(Response.json({ code: 'of-a-viewer' }));
  await expect.poll(link).toContain('of-a-viewer');
  responses[0]?.(Response.json({ code: 'of-an-owner' }));
  await expect.poll(link).not.toContain('of-a-viewer');
  expect(link()).not.toContain('of-an-owner');
});
