import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import type { Journal } from './journal.ts';
import type { Report } from './report.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

export interface JournalServer {
  readonly url: string;
  close(): void;
}

/** Serves the page, built into `folder`, and writes the reports of its tabs into the current journal. */
export async function serveJournal(journal: () => Journal, folder: string): Promise<JournalServer> {
  await build({
    root: fileURLToPath(new URL('page', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir: folder, emptyOutDir: true, target: 'es2023' },
  });
  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.writeHead(404).end()),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (pathname === '/journal') {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      journal().take(searchParams.get('tab') ?? '', Number(searchParams.get('start')), JSON.parse(body) as Report);
      response.end();
    } else if (pathname === '/acknowledged') {
      response.end(JSON.stringify(journal().acknowledged));
    } else {
      const file = pathname === '/' ? '/index.html' : pathname;
      response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream');
      response.end(readFileSync(join(folder, file)));
    }
  }
}
