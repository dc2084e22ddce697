import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { ConflictWalk } from './conflict-walk.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

/** The locks of the clients that are open. */
async function locksOfDevices(): Promise<number> {
  const { held = [] } = await navigator.locks.query();
  return held.filter(({ name }) => name?.includes('walk-') === true).length;
}

it('the two devices close if the user leaves the page while they wait for the server', async () => {
  app.show('how', <ConflictWalk />);
  flushSync(() => app.container.querySelector<HTMLButtonElement>('button.primary')?.click());
  await expect.poll(locksOfDevices).toBeGreaterThan(0);
  app.show('accounts', <p />);
  await expect.poll(locksOfDevices).toBe(0);
  expect(app.container.querySelector('[role=alert]')).toBeNull();
});
