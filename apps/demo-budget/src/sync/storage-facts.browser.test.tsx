import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { StorageFacts } from './storage-facts.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
  vi.spyOn(navigator.storage, 'persisted').mockResolvedValue(false);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await app.close();
});

it.each([
  ['declines', () => Promise.resolve(false), '[role="status"]', 'The browser declined.'],
  ['fails', () => Promise.reject(new DOMException('', 'InvalidStateError')), '[role="alert"]', 'This browser'],
])('a user who asks the browser to protect the budget sees when it %s', async (_, persist, selector, words) => {
  vi.spyOn(navigator.storage, 'persist').mockImplementation(persist);
  app.show('sync', <StorageFacts persistence="opfs" />);
  await expect.poll(() => app.container.querySelector('button')).not.toBeNull();
  flushSync(() => app.container.querySelector('button')?.click());
  await expect.poll(() => app.container.querySelector(selector)?.textContent).toContain(words);
});
