import { createReadStream } from 'node:fs';
import { encodingsOfBuild, type BuildEncoding } from './compress-build.ts';
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
  png: 'image/png',
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

/** Serves files of the built app. */
export interface StaticFiles {
  /** `acceptEncoding`: the request's header. Undefined for a path without a file. */
  answer(path: string, acceptEncoding: string): Promise<Response | undefined>;
  /** The page for an unknown address; undefined if the build has none. */
  notFound(): Promise<Response | undefined>;
}

/**
 * Serves the built app's files, compressed by the build if the browser accepts it. They are listed once at the start,
 * and only listed files are opened: no path from a request reaches the file system.
 */
export async function staticFiles(folder: string): Promise<StaticFiles> {
  const listed = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = new Set(
    listed
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).split(sep).join('/')),
  );
  const serve = async (path: string, encoding: BuildEncoding | undefined, status: number): Promise<Response> => {
    const file = join(folder, path) + (encoding?.suffix ?? '');
    const { size } = await stat(file);
    const headers = {
      ...pageHeaders,
      'content-type': typesByExtension[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      'content-length': String(size),
      ...(encoding === undefined ? {} : { 'content-encoding': encoding.name }),
      vary: 'accept-encoding',
      // Vite puts a content hash into file names under /assets, so those files never change.
      'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
    return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, { status, headers });
  };
  return {
    async answer(requested, acceptEncoding) {
      const path = requested === '/' ? '/index.html' : requested;
      if (!paths.has(path) || encodingsOfBuild.some(({ suffix }) => path.endsWith(suffix))) return undefined;
      const encoding = encodingsOfBuild.find(
        ({ name, suffix }) => accepts(acceptEncoding, name) && paths.has(path + suffix),
      );
      return await serve(path, encoding, 200);
    },
    notFound: async () => (paths.has('/not-found.html') ? await serve('/not-found.html', undefined, 404) : undefined),
  };
}

/** Browsers send `gzip, deflate, br, zstd`; a quality of 0 excludes an encoding. */
function accepts(acceptEncoding: string, name: string): boolean {
  return acceptEncoding.split(',').some((item) => {
    const [known = '', quality = ''] = item.split(';').map((part) => part.trim());
    return known === name && !/^q=0(\.0*)?$/.test(quality);
  });
}
