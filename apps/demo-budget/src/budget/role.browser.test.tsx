import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, expect, it } from 'vitest';
import { makeBudget } from './budget.ts';
import { beginRole, learnAccess, useIsRemoved, useOpenBudget, useRole } from './role.ts';

let root: Root;

afterEach(() => root.unmount());

function Access(): ReactNode {
  const principal = useOpenBudget()?.membership?.principal ?? 'nobody';
  return `${useRole()} ${principal}${useIsRemoved() ? ' removed' : ''}`;
}

it('a budget opened by a link has the role of its key, which is a member’s or the budget’s own', () => {
  const container = document.createElement('div');
  root = createRoot(container);
  const shown = (): string | null => {
    flushSync(() => root.render(<Access />));
    return container.textContent;
  };
  beginRole({ ...makeBudget(), madeHere: false });
  learnAccess('removed');
  learnAccess('owner');
  expect(shown()).toBe('owner nobody');
  learnAccess('viewer', 'person-1');
  expect(shown()).toBe('viewer person-1');
  learnAccess('editor', 'person-1');
  expect(shown()).toBe('editor person-1');
  learnAccess('removed');
  expect(shown()).toBe('editor person-1 removed');
});
