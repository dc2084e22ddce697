/** What a page tells about itself; a Document and its Window in a browser. */
export interface PageEvents {
  readonly window: EventTarget;
  readonly document: EventTarget & { readonly visibilityState?: string };
}

/**
 * Follows a page's life. `onAway`: the page is being left, kept for going back, or frozen, and holds up other tabs with
 * whatever it holds. `onBack`: it goes on. `onOnline`: the device has a network again. `onSeen`: somebody looks at the
 * page again. Returns a function that stops following.
 *
 * `pagehide` and `pageshow` come also without the back/forward cache; `freeze` and `resume` only in Chromium
 * (https://developer.chrome.com/docs/web-platform/page-lifecycle-api).
 */
export function followPageLifecycle(
  page: PageEvents,
  onAway: () => void,
  onBack: () => void,
  onOnline: () => void,
  onSeen: () => void,
): () => void {
  let away = false;
  const leave = (): void => {
    if (away) return;
    away = true;
    onAway();
  };
  const comeBack = (): void => {
    if (!away) return;
    away = false;
    onBack();
  };

  const following: [EventTarget, string, () => void][] = [
    [page.window, 'pagehide', leave],
    [page.window, 'pageshow', comeBack],
    [page.document, 'freeze', leave],
    [page.document, 'resume', comeBack],
    [page.window, 'online', onOnline],
    [page.document, 'visibilitychange', () => page.document.visibilityState === 'visible' && onSeen()],
  ];
  for (const [target, type, listener] of following) target.addEventListener(type, listener);
  return () => {
    for (const [target, type, listener] of following) target.removeEventListener(type, listener);
  };
}
