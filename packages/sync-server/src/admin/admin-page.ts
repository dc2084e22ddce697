import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Context, Hono } from 'hono';

/** The folder beside `src` and `dist` whose files run in the browser. The build does not change them. */
const FOLDER = new URL('../../admin-page/', import.meta.url);

const PARTS: Readonly<Record<string, string>> = { 'page.css': 'text/css', 'page.js': 'text/javascript' };

/**
 * Serves the admin page and its two files. The page contains no secret: it asks for the token and sends it with its
 * requests to the API.
 */
export function serveAdminPage(app: Hono): void {
  const html = read('page.html');
  const answer = ({ req }: Context): Response => {
    // The base is relative to the address in the browser, so that a proxy may add a prefix.
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
