import { useEffect, useRef } from 'react';
import { isTyping, shortcutOf } from '../shell/keys.ts';

export interface LedgerKeys {
  readonly onNew: () => void;
  readonly onSearch: () => void;
  /** Selects or deselects the focused row's entry. */
  readonly onToggle: (entryId: string) => void;
  /** Opens the note of the focused row's entry. */
  readonly onNote: (entryId: string) => void;
  readonly onEscape: () => void;
  readonly onHelp: () => void;
}

/**
 * Keyboard control of the ledger: the focus moves from row to row, and Enter opens an entry. While a field has the
 * focus, keys belong to the field.
 */
export function useLedgerKeys(keys: LedgerKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping(event) ||
        document.querySelector('dialog[open]') !== null
      )
        return;
      const action = actionOf(shortcutOf(event), latest.current);
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

function actionOf(key: string, keys: LedgerKeys): (() => void) | undefined {
  switch (key) {
    case 'n':
      return keys.onNew;
    case '/':
      return keys.onSearch;
    case '?':
      return keys.onHelp;
    case 'Escape':
      return keys.onEscape;
    case 'ArrowDown':
    case 'j':
      return () => moveFocus(1);
    case 'ArrowUp':
    case 'k':
      return () => moveFocus(-1);
    case ' ': {
      const entryId = focusedEntry();
      return entryId === undefined ? undefined : () => keys.onToggle(entryId);
    }
    case 'm': {
      const entryId = focusedEntry();
      return entryId === undefined ? undefined : () => keys.onNote(entryId);
    }
    default:
      return undefined;
  }
}

/** Only from the row's button: on any other button, Space presses that button. */
function focusedEntry(): string | undefined {
  const focused = document.activeElement;
  return focused?.classList.contains('entry-open') === true
    ? focused.closest<HTMLElement>('tr[data-entry]')?.dataset['entry']
    : undefined;
}

/**
 * Moves to the previous or next row, or to the first visible row if no row has the focus. The rows around the view are
 * rendered, so the target exists.
 */
function moveFocus(by: 1 | -1): void {
  const buttons = [...document.querySelectorAll<HTMLElement>('tr[data-entry] .entry-open')];
  const row = document.activeElement?.closest('tr[data-entry]');
  const at = buttons.findIndex((button) => button.closest('tr') === row);
  const headBottom = document.querySelector('.ledger thead')?.getBoundingClientRect().bottom ?? 0;
  const next =
    at === -1 ? buttons.find((button) => button.getBoundingClientRect().top >= headBottom) : buttons[at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
