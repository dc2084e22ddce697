/** The lifecycle events of a page: a Document and its Window in a browser. */
export interface PageEvents {
  readonly window: EventTarget;
  readonly document: EventTarget & { readonly visibilityState?: string };
}

/**
 * Follows the lifecycle of a page. `onAway`: the page is being left, frozen or kept in the back/forward cache, where it
 * would block other tabs with the locks and files that it holds. `onBack`: the page continues. `onOnline`, `onOffline`:
 * the device reports that it is online again, or that it is offline. `onSeen`: the page is visible again. Returns a
 * function that stops following.
 *
 * `pagehide` and `pageshow` also fire without the back/forward cache; `freeze` and `resume` only in Chromium
 * (https://developer.chrome.com/docs/web-platform/page-lifecycle-api).
 */
export function followPageLifecycle(
  page: PageEvents,
  onAway: (event: Event) => void,
  onBack: () => void,
  onOnline: () => void,
  onOffline: () => void,
  onSeen: () => void,
): () => void {
  let away = false;
  const leave = (event: Event): void => {
    if (away) return;
    away = true;
    onAway(event);
  };
  const comeBack = (): void => {
    if (!away) return;
    away = false;
    onBack();
  };

  const following: [EventTarget, string, (event: Event) => void][] = [
    [page.window, 'pagehide', leave],
    [page.window, 'pageshow', comeBack],
    [page.document, 'freeze', leave],
    [page.document, 'resume', comeBack],
    [page.window, 'online', onOnline],
    [page.window, 'offline', onOffline],
    [page.document, 'visibilitychange', () => page.document.visibilityState === 'visible' && onSeen()],
  ];
  for (const [target, type, listener] of following) target.addEventListener(type, listener);
  return () => {
    for (const [target, type, listener] of following) target.removeEventListener(type, listener);
  };
}
