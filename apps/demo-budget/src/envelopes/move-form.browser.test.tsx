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

it('a form that covers an envelope keeps its direction when somebody else covers it meanwhile', () => {
  const container = document.createElement('div');
  document.body.append(container);
  root = createRoot(container);
  const moves: unknown[] = [];
  const show = (food: bigint): void => {
    const envelopes = [envelopeOf('food', food), envelopeOf('fun', 5_000n)] as const;
    flushSync(() =>
      root.render(
        <MoveForm
          envelope={envelopes[0]}
          envelopes={envelopes}
          currency="EUR"
          onMove={(...move) => moves.push(move)}
          onKeepOverspent={() => undefined}
          onCancel={() => undefined}
        />,
      ),
    );
  };
  show(-1_000n);
  show(500n);
  flushSync(() => container.querySelector<HTMLButtonElement>('button[type="submit"]')?.click());
  expect(moves).toEqual([['fun', 'food', 1_000]]);
});
