import { useEffect, useRef, type ReactNode } from 'react';

const keys: readonly (readonly [string, string])[] = [
  ['n', 'New entry'],
  ['↑ ↓', 'From entry to entry'],
  ['Enter', 'Open an entry; save it'],
  ['Space', 'Select an entry'],
  ['Esc', 'Leave, or select nothing'],
  ['/', 'Search'],
  ['Ctrl Z', 'Undo'],
  ['Ctrl Y', 'Redo'],
  ['?', 'This list'],
];

/** The keys of the ledger. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="keys-help" aria-labelledby="keys-help-title" onClose={onClose}>
      <h2 id="keys-help-title">By keyboard</h2>
      <dl>
        {keys.map(([key, what]) => (
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
