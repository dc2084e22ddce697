/*
 * Keeps the app's own files, so that it starts without a network in any tab. The budget itself is in the database,
 * which needs no help.
 *
 * All files of one version are fetched before it takes over: a page never gets a part of one version and a part of
 * another. A new version waits until the person has said yes (update-offer.tsx) or all tabs are closed.
 */

// A module, so that this `self` is its own and not that of all workers.
export {};
declare const self: ServiceWorkerGlobalScope;

/**
 * Written by the build (vite.config.ts): the addresses of the version's files, and a hash that tells it from others.
 */
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
  const path = request.mode === 'navigate' ? '/' : url.pathname;
  if (__APP_FILES__.includes(path)) event.respondWith(fromCache(path, request));
});

async function fromCache(path: string, request: Request): Promise<Response> {
  const cache = await caches.open(cacheName);
  // The browser may have taken the cache away to make room.
  return (await cache.match(path)) ?? fetch(request);
}
