/**
 * Whether a key press belongs to a focused field or control instead of the page. Also checks inside shadow roots, whose
 * inner target the page's event does not expose.
 */
export function isTyping(event: Event): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'file'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

/** The part of a page's key event, or of React's, that matters here. */
type PageKeyEvent = Pick<KeyboardEvent, 'key' | 'keyCode'> & {
  readonly nativeEvent: { readonly isComposing?: boolean };
};

/**
 * The key of an event, or `Process` if it belongs to an input method, which composes text: Escape and Enter then end
 * the composition, not the form. Safari ends it before the event, which has the code 229.
 */
export function keyOf({ key, keyCode, nativeEvent }: PageKeyEvent): string {
  return nativeEvent.isComposing === true || keyCode === 229 ? 'Process' : key;
}

/**
 * The key of a shortcut. On a keyboard without Latin letters, such as a Russian one, it is the letter in the same
 * position on a Latin keyboard.
 */
export function shortcutOf({ key, code }: Pick<KeyboardEvent, 'key' | 'code'>): string {
  return /^[^\p{ASCII}]$/u.test(key) && /^Key[A-Z]$/.test(code) ? code.slice(3).toLowerCase() : key;
}
