import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Readable } from 'node:stream';

const typesByExtension: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  csv: 'text/csv',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  svg: 'image/svg+xml',
  wasm: 'application/wasm',
  webmanifest: 'application/manifest+json',
};

/**
 * Content security policy: the app may load itself, connect to its own server, and compile SQLite's WebAssembly. It
 * allows neither `unsafe-eval` nor another origin, so a script injected through an imported file's text could neither
 * run nor send anything.
 */
const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Serves the built app's files. They are listed once at the start, and only listed files are opened: no path from a
 * request reaches the file system.
 */
export async function staticFiles(folder: string): Promise<(path: string) => Promise<Response | undefined>> {
  const listed = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = new Set(
    listed
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).split(sep).join('/')),
  );
  return async (requested) => {
    const path = requested === '/' ? '/index.html' : requested;
    if (!paths.has(path)) return undefined;
    const file = join(folder, path);
    const { size } = await stat(file);
    const headers = {
      ...pageHeaders,
      'content-type': typesByExtension[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      'content-length': String(size),
      // Vite puts a content hash into file names under /assets, so those files never change.
      'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
    return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, { headers });
  };
}
