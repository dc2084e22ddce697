import { RockpoolError } from '@rockpool/client';
import type { ReactNode } from 'react';
import type { Arrival } from '../budget/open-budget.ts';
import { errorSentence } from './error-sentence.ts';
import { megabytes } from './megabytes.ts';

export interface OpeningProps {
  /** Null before any data arrives. */
  readonly arrival: Arrival | null;
  /** The budget is not on this device yet, so opening it takes a noticeable time. */
  readonly isFirstVisit: boolean;
}

/**
 * Shown while the budget is opening. That usually takes no noticeable time, so the text appears only after a second
 * (see layout.css), except during a budget's first download.
 */
export function Opening({ arrival, isFirstVisit }: OpeningProps): ReactNode {
  if (arrival !== null) {
    const { receivedBytes, totalBytes } = arrival;
    return (
      <main className="unopened">
        <label className="progress">
          Downloading the budget, {megabytes(receivedBytes)} of {megabytes(totalBytes)}
          <progress value={receivedBytes} max={totalBytes} />
        </label>
      </main>
    );
  }
  if (isFirstVisit)
    return (
      <main className="unopened">
        <p role="status">Opening the budget …</p>
      </main>
    );
  return (
    <main className="unopened slow">
      <p role="status">Opening the budget. If another window is using it, this may take a moment.</p>
    </main>
  );
}

export interface UnopenedProps {
  readonly error: unknown;
  /** Opens the budget only in memory. */
  readonly onKeepNothing: () => void;
}

/** Why the budget cannot be opened, and the remedy. */
export function Unopened({ error, onKeepNothing }: UnopenedProps): ReactNode {
  const refused = isRefusal(error);
  return (
    <main className="unopened">
      <h1>The budget cannot be opened</h1>
      <p role="alert">{errorSentence(error)}</p>
      {refused && (
        <p>
          You can still open it without saving on this device. It loads from the server, and changes are sent there.
          Changes that are not sent when this tab closes are lost.
        </p>
      )}
      <div className="buttons">
        <button type="button" className="primary" onClick={() => location.reload()}>
          Try again
        </button>
        {refused && (
          <button type="button" onClick={onKeepNothing}>
            Continue without saving on this device
          </button>
        )}
      </div>
    </main>
  );
}

/** The browser never stores anything for this page, so a retry does not help. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof DOMException ||
    (error instanceof RockpoolError && (error.code === 'storage-ephemeral' || error.code === 'storage-unsupported'))
  );
}
