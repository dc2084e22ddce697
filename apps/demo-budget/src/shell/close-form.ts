import { flushSync } from 'react-dom';

/**
 * Closes a form by `close`. If the focus was in it, the focus moves to the element with this id, which the form
 * covered or which opened it; otherwise a user of the keyboard would start again at the top of the page.
 */
export function closeForm(close: () => void, openerId: string): void {
  flushSync(close);
  if (document.activeElement === document.body) document.getElementById(openerId)?.focus();
}
