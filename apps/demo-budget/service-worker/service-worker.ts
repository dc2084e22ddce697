/*
 * Caches the app's own files, so that the app starts offline in any tab. The budget itself is in the database and needs
 * no cache. All files of a version are fetched before it activates, so a page never mixes two versions. A new version
 * waits until the user accepts it (update-offer.tsx) or all tabs are closed.
 */

// Makes this file a module, so that this `self` declaration does not apply to all workers.
export {};
declare const self: ServiceWorkerGlobalScope;

/** Written by the build (vite.config.ts): the URLs of the version's files, and a hash that identifies the version. */
declare const __APP_FILES__: readonly string[];
declare const __APP_VERSION__: string;

const CACHE_PREFIX = 'app-';
const cacheName = `${CACHE_PREFIX}${__APP_VERSION__}`;

self.addEventListener('install', (event) => {
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll([...__APP_FILES__])));
});

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) =>
        Promise.all(
          names
            .filter((name) => name.startsWith(CACHE_PREFIX) && name !== cacheName)
            .map((name) => caches.delete(name)),
        ),
      )
      .then(() => self.clients.claim()),
  );
});

self.addEventListener('message', (event) => {
  if (event.data === 'take-over') void self.skipWaiting();
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== self.location.origin) return;
  const path = url.pathname;
  if (__APP_FILES__.includes(path)) event.respondWith(fromCache(path, request));
});

async function fromCache(path: string, request: Request): Promise<Response> {
  const cache = await caches.open(cacheName);
  // The browser may have deleted the cache to free space.
  return (await cache.match(path)) ?? fetch(request);
}
