/** A downloaded version of the app that waits to be activated; null if there is none. */
export type WaitingVersion = ServiceWorker | null;

let waiting: WaitingVersion = null;
const listeners = new Set<() => void>();

export function waitingVersion(): WaitingVersion {
  return waiting;
}

export function onWaitingVersion(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Activates the new version and reloads the page. */
export function takeVersion(version: ServiceWorker): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
  version.postMessage('take-over');
}

/**
 * Registers the service worker, which caches the app for offline starts, and checks for newer versions. If the browser
 * refuses, the app works without it.
 */
export async function keepAppFiles(): Promise<void> {
  const registration = await navigator.serviceWorker.register('/service-worker.js', { updateViaCache: 'none' });
  const look = (): void => {
    // The very first version activates without waiting.
    waiting = navigator.serviceWorker.controller === null ? null : registration.waiting;
    for (const listener of [...listeners]) listener();
  };
  look();
  registration.addEventListener('updatefound', () => registration.installing?.addEventListener('statechange', look));
}
