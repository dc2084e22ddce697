import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Context, Hono } from 'hono';

/** Beside `src` and `dist`: files of the browser, which the build leaves as they are. */
const FOLDER = new URL('../../admin-page/', import.meta.url);

const PARTS: Readonly<Record<string, string>> = { 'page.css': 'text/css', 'page.js': 'text/javascript' };

/**
 * Serves the admin page and its two files. It holds nothing secret: it asks for the token, and sends it with its requests
 * to the API.
 */
export function serveAdminPage(app: Hono): void {
  const html = read('page.html');
  const answer = ({ req }: Context): Response => {
    // Relative to the address as the browser sees it, so that a proxy may add a prefix.
    const base = req.path.endsWith('/') ? '' : `${req.path.split('/').at(-1)}/`;
    return new Response(html.replaceAll('{base}', base), { headers: { 'content-type': 'text/html; charset=utf-8' } });
  };
  app.get('/', answer);
  for (const [name, type] of Object.entries(PARTS)) {
    const body = read(name);
    app.get(`/${name}`, () => new Response(body, { headers: { 'content-type': `${type}; charset=utf-8` } }));
  }
}

function read(name: string): string {
  return readFileSync(fileURLToPath(new URL(name, FOLDER)), 'utf8');
}
