import { useEffect, useRef, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';

interface Key {
  readonly key: string;
  readonly what: string;
  /** The effect for viewers; null if there is none. Omitted if it is the same as for others. */
  readonly whatToLook?: string | null;
}

const keys: readonly Key[] = [
  { key: 'n', what: 'New entry', whatToLook: null },
  { key: '↑ ↓', what: 'Move between entries' },
  { key: 'Enter', what: 'Open an entry; save it', whatToLook: 'Open an entry' },
  { key: 'm', what: 'Write a note on an entry', whatToLook: 'Read the note on an entry' },
  { key: 'Space', what: 'Select an entry', whatToLook: null },
  { key: 'Esc', what: 'Close, or clear the selection', whatToLook: 'Leave' },
  { key: '/', what: 'Search' },
  { key: 'Ctrl Z', what: 'Undo', whatToLook: null },
  { key: 'Ctrl Y', what: 'Redo', whatToLook: null },
  { key: '?', what: 'Show this list' },
];

/** The keyboard shortcuts of the ledger. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  const mayWrite = useMayWrite();
  const shown = mayWrite
    ? keys
    : keys.flatMap(({ key, what, whatToLook = what }) => (whatToLook === null ? [] : [{ key, what: whatToLook }]));
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="keys-help" aria-labelledby="keys-help-title" onClose={onClose}>
      <h2 id="keys-help-title">Keyboard shortcuts</h2>
      <dl>
        {shown.map(({ key, what }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" className="primary">
          Close
        </button>
      </form>
    </dialog>
  );
}
