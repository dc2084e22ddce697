// Keeps the modules of the Chromium tests in the browser's cache for the whole run. Vite makes the browser revalidate
// each of two hundred modules for every test file, and Chromium then compiles them again.

/** A run has its own browser profile, so that no cached file outlives the sources from which it was made. */
export const FOREVER = 'max-age=31536000, immutable';

/** @returns {import('vite').Plugin} */
export function cachedModules() {
  return {
    name: 'rockpool:cached-modules',
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        if (/^(script|worker)$/.test(String(request.headers['sec-fetch-dest']))) keepModules(response);
        next();
      });
    },
  };
}

/**
 * Only a response with content names `Cache-Control`; a failed one is not kept.
 *
 * @param {import('node:http').ServerResponse} response
 */
function keepModules(response) {
  const setHeader = response.setHeader.bind(response);
  response.setHeader = (name, value) => setHeader(name, name === 'Cache-Control' ? FOREVER : value);
}
