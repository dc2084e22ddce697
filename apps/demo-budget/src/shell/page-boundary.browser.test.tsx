import type { ReactElement } from 'react';
import { flushSync } from 'react-dom';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { PageBoundary } from './page-boundary.tsx';

let app: InApp;
let isBroken: boolean;

beforeEach(async () => {
  app = await inApp();
  isBroken = true;
  // React logs every caught error.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await app.close();
});

function Page({ name }: { readonly name: string }): ReactElement {
  if (name === 'accounts' && isBroken) throw new RangeError('Invalid currency code : ?');
  return <h1>{name}</h1>;
}

const show = (page: string): void =>
  app.show(
    'test',
    <>
      <nav>Menu</nav>
      <PageBoundary page={page}>
        <Page name={page} />
      </PageBoundary>
    </>,
  );
const heading = (): string | null | undefined => app.container.querySelector('h1')?.textContent;

it('an error of one page leaves the rest of the app and the other pages usable', () => {
  show('accounts');
  expect(heading()).toBe('This page cannot be shown');
  expect(app.container.querySelector('[role="alert"]')?.textContent).toContain('Everything saved before is safe.');
  expect(app.container.querySelector('nav')?.textContent).toBe('Menu');
  show('entries');
  expect(heading()).toBe('entries');
  show('accounts');
  expect(heading()).toBe('This page cannot be shown');
  isBroken = false;
  flushSync(() => app.container.querySelector('button')?.click());
  expect(heading()).toBe('accounts');
});
