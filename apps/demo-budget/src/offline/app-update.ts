/** A version of the app that is ready and waits; null while there is none. */
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

/** Lets the new version take over, and starts with it. */
export function takeVersion(version: ServiceWorker): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
  version.postMessage('take-over');
}

/**
 * Has the app's files kept for starting without a network, and looks out for newer ones. The app works without, where
 * the browser refuses.
 */
export async function keepAppFiles(): Promise<void> {
  const registration = await navigator.serviceWorker.register('/service-worker.js', { updateViaCache: 'none' });
  const look = (): void => {
    // The first version of all has nobody to wait for.
    waiting = navigator.serviceWorker.controller === null ? null : registration.waiting;
    for (const listener of [...listeners]) listener();
  };
  look();
  registration.addEventListener('updatefound', () => registration.installing?.addEventListener('statechange', look));
}
