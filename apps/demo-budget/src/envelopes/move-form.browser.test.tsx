import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, expect, it } from 'vitest';
import type { Envelope } from './envelopes.ts';
import { MoveForm } from './move-form.tsx';

const envelopeOf = (categoryId: string, availableMinor: bigint): Envelope => ({
  categoryId,
  name: categoryId,
  hidden: false,
  groupName: '',
  note: '',
  keepsOverspent: false,
  carriedMinor: 0n,
  assignedMinor: 0n,
  spentMinor: 0n,
  availableMinor,
});

let root: Root;

afterEach(() => {
  root.unmount();
  document.body.replaceChildren();
});

function mount(): HTMLElement {
  const container = document.createElement('div');
  document.body.append(container);
  root = createRoot(container);
  return container;
}

/** Shows a form that only moves, until the next call. */
function showMoves(moves: unknown[], envelope: Envelope, envelopes: readonly Envelope[]): void {
  flushSync(() =>
    root.render(
      <MoveForm
        envelope={envelope}
        envelopes={envelopes}
        currency="EUR"
        onMove={(...move) => moves.push(move)}
        onKeepOverspent={() => undefined}
        onCancel={() => undefined}
      />,
    ),
  );
}

it('Escape closes the form, unless it ends the composition of an input method', () => {
  const container = mount();
  let closedCount = 0;
  flushSync(() =>
    root.render(
      <MoveForm
        envelope={envelopeOf('food', 1_000n)}
        envelopes={[envelopeOf('food', 1_000n), envelopeOf('fun', 0n)]}
        currency="EUR"
        onMove={() => undefined}
        onKeepOverspent={() => undefined}
        onCancel={() => (closedCount += 1)}
      />,
    ),
  );
  const press = (init: KeyboardEventInit): void =>
    void container.querySelector('form')?.dispatchEvent(new KeyboardEvent('keydown', { ...init, bubbles: true }));
  press({ key: 'Escape', isComposing: true });
  press({ key: 'Escape', keyCode: 229 });
  expect(closedCount).toBe(0);
  press({ key: 'Escape', keyCode: 27 });
  expect(closedCount).toBe(1);
});

it('a form moves money to the category that it shows, also after another one was deleted', () => {
  const container = mount();
  const moves: unknown[] = [];
  const [food, fun, home] = [envelopeOf('food', 1_000n), envelopeOf('fun', 0n), envelopeOf('home', 0n)] as const;
  const show = (envelopes: readonly Envelope[]): void => showMoves(moves, food, envelopes);
  const submit = (): void =>
    flushSync(() => container.querySelector<HTMLButtonElement>('button[type="submit"]')?.click());
  show([food, fun, home]);
  show([food, home]);
  submit();
  expect(moves).toEqual([['food', 'home', 1_000]]);
  show([food]);
  submit();
  expect(moves).toHaveLength(1);
  expect(container.querySelector('[role="alert"]')?.textContent).toContain('no other category');
});

it('a form that covers an envelope keeps its direction when somebody else covers it meanwhile', () => {
  const container = mount();
  const moves: unknown[] = [];
  const show = (minor: bigint): void => {
    const food = envelopeOf('food', minor);
    showMoves(moves, food, [food, envelopeOf('fun', 5_000n)]);
  };
  show(-1_000n);
  show(500n);
  flushSync(() => container.querySelector<HTMLButtonElement>('button[type="submit"]')?.click());
  expect(moves).toEqual([['fun', 'food', 1_000]]);
});
