import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { expect, it } from 'vitest';

// What a page loads before its first query, as `vite build` makes it of the smallest app, in bytes after gzip.
const BUDGET_BYTES = {
  page: 15.1 * 1024,
  // Above the 60 KB that it should be; docs/decisions/0037 says what to load later.
  worker: 109.75 * 1024,
  // Scans beside the virtual machine are 10 KB of it: docs/decisions/0076.
  wasm: 370 * 1024,
  // Loaded only for schemas with document columns. Most of it is Yjs.
  documents: 37 * 1024,
};

type Part = keyof typeof BUDGET_BYTES;
type Output = Rolldown.RolldownOutput['output'];

async function buildPage(): Promise<Record<Part, number>> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const { output } = (await build({
    root,
    configFile: false,
    logLevel: 'error',
    worker: { format: 'es' },
    build: {
      write: false,
      target: 'es2023',
      modulePreload: { polyfill: false },
      rolldownOptions: { input: `${root}page.ts` },
    },
  })) as Rolldown.RolldownOutput;
  const sizes: Record<Part, number> = { page: 0, worker: 0, wasm: 0, documents: 0 };
  const first = {
    page: withImports('page', output),
    worker: withImports('entry', output),
    documents: withImports('document-support', output),
  };
  for (const file of output) {
    const part = partOf(file, first);
    if (part !== null) sizes[part] += gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 }).length;
  }
  return sizes;
}

/** Null for parts that are loaded on demand. */
function partOf(
  file: Output[number],
  first: Record<'page' | 'worker' | 'documents', ReadonlySet<Output[number]>>,
): Part | null {
  if (file.fileName.endsWith('.wasm')) return 'wasm';
  if (first.page.has(file)) return 'page';
  if (first.worker.has(file)) return 'worker';
  return first.documents.has(file) ? 'documents' : null;
}

/** A script and its static imports, transitively. Vite returns the worker's scripts as finished text. */
function withImports(name: string, output: Output): ReadonlySet<Output[number]> {
  const found = new Set(
    output.filter(({ fileName }) => fileName.startsWith(`assets/${name}-`) && fileName.endsWith('.js')),
  );
  for (const file of found) {
    for (const other of output)
      if (new RegExp(`(?:from|import)\\s*["']\\./${basename(other.fileName)}["']`).test(textOf(file))) found.add(other);
  }
  return found;
}

function textOf(file: Output[number]): string {
  return file.type === 'chunk' ? file.code : file.source.toString();
}

it('what a page loads first stays within its budget', async () => {
  const sizes = await buildPage();
  for (const part of Object.keys(sizes) as Part[]) {
    const kib = (sizes[part] / 1024).toFixed(1);
    console.info(`First load, gzip: ${part} ${kib} KB of ${BUDGET_BYTES[part] / 1024}`);
    expect(sizes[part], part).toBeGreaterThan(1024);
    expect(sizes[part], part).toBeLessThan(BUDGET_BYTES[part]);
  }
});
