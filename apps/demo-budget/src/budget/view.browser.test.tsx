import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { useToday } from './view.ts';

const Day = (): ReactNode => useToday();
let root: Root;

afterEach(() => {
  root.unmount();
  vi.useRealTimers();
});

it('a page that stays open shows the new day after midnight, and after a night of sleep', () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: new Date(2026, 2, 1, 23, 59, 30) });
  const container = document.createElement('div');
  root = createRoot(container);
  flushSync(() => root.render(<Day />));
  expect(container.textContent).toBe('2026-03-01');
  flushSync(() => vi.advanceTimersByTime(60_000));
  expect(container.textContent).toBe('2026-03-02');
  vi.setSystemTime(new Date(2026, 2, 3, 7));
  flushSync(() => void document.dispatchEvent(new Event('visibilitychange')));
  expect(container.textContent).toBe('2026-03-03');
});
