import { RockpoolError } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { isTyping, shortcutOf } from './keys.ts';
import { TOAST_MS } from './toast-time.ts';
import type { UndoHistory } from './undo-steps.ts';
import { WorkToast } from './work-toast.tsx';

/** The last action, and its options. */
export interface Done {
  readonly sentence: string;
  readonly offer: 'undo' | 'redo' | null;
}

export interface UndoToastProps {
  readonly done: Done | null;
  readonly history: UndoHistory;
  /** Called with null once the toast's time is over. */
  readonly onDone: (done: Done | null) => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Announces the last action, with "Undo". Ctrl+Z undoes this tab's last action and Ctrl+Y redoes it; in a text field
 * both act on the field.
 */
export function UndoToast({ done, history, onDone, onFailure }: UndoToastProps): ReactNode {
  const client = useClient();
  const [going, setGoing] = useState<'undo' | 'redo' | null>(null);
  const go = useCallback(
    (way: 'undo' | 'redo') => {
      const begin = (): void => {
        if (history.busyCount > 0) return;
        const [from, to] = way === 'undo' ? [history.done, history.undone] : [history.undone, history.done];
        const group = from.at(-1) ?? null;
        if (way === 'undo' && group !== null) return group.isTakenBack ? onDone(undoneUpTo) : group.takeBack();
        from.pop();
        setGoing(way);
        history.busyCount += 1;
        (group === null ? client[way]() : group.redo())
          .then(
            (went) => {
              // A group adds itself.
              if (went === true) to.push(null);
              if (went === 'part') onDone(redoneInPart);
              else if (way === 'undo') onDone(undone(went === true));
              else onDone(redone(went === true || went === 'all'));
            },
            (error: unknown) => {
              // The next undo would undo the previous action.
              if (error instanceof RockpoolError && error.code === 'undo-refused') onDone(null);
              else if (group === null) from.push(null);
              onFailure(error);
            },
          )
          .finally(() => {
            history.busyCount -= 1;
            setGoing(null);
          });
      };
      void history.counted.then(begin);
    },
    [client, history, onDone, onFailure],
  );
  useUndoKeys(go);
  useEffect(() => {
    if (done === null) return undefined;
    const timer = setTimeout(() => onDone(null), TOAST_MS);
    return () => clearTimeout(timer);
  }, [done, onDone]);
  const offer = done?.offer ?? null;

  // Undo and redo run their statements one after another, in one transaction that cannot be stopped.
  if (going !== null)
    return <WorkToast work={{ label: going === 'undo' ? 'Undoing' : 'Redoing', progress: null, stop: null }} />;
  return (
    <div className="toast-place" role="status" aria-label="Last change">
      {done !== null && (
        <p className="toast">
          <span>{done.sentence}</span>
          {offer !== null && (
            <button type="button" className="quiet" onClick={() => go(offer)}>
              {offer === 'undo' ? 'Undo' : 'Redo'}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

/** The last step is an action of several transactions that was undone, but not by `client.undo` alone. */
const undoneUpTo: Done = { sentence: 'Earlier actions cannot be undone.', offer: null };

/** Other parts have changed since, or another action began meanwhile. */
const redoneInPart: Done = { sentence: 'Only part of it was redone.', offer: 'undo' };

function undone(went: boolean): Done {
  return went ? { sentence: 'Undone.', offer: 'redo' } : { sentence: 'There is nothing to undo.', offer: null };
}

function redone(went: boolean): Done {
  return went ? { sentence: 'Redone.', offer: 'undo' } : { sentence: 'There is nothing to redo.', offer: null };
}

function useUndoKeys(go: (way: 'undo' | 'redo') => void): void {
  const latest = useRef(go);
  latest.current = go;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || isTyping(event)) return;
      const key = shortcutOf(event).toLowerCase();
      if (key !== 'z' && key !== 'y') return;
      event.preventDefault();
      latest.current(key === 'y' || event.shiftKey ? 'redo' : 'undo');
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
