import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { expect, it } from 'vitest';

// The code that a page loads before its first query, from `vite build` of the smallest app, in bytes after gzip.
const BUDGET_BYTES = {
  // Of this, 0.1 KB are the codes and texts of six errors for named versions and binary JSON, and 0.1 KB are error
  // texts without abbreviations.
  page: 15.6 * 1024,
  // Above the 60 KB that it should be; docs/decisions/0037 says what to load later. Named versions and the columns that
  // an update of the app adds take 0.6 KB of it, error texts without abbreviations 0.2 KB, the check of a doubtful
  // connection 0.1 KB, applying waiting deliveries together 0.4 KB, saving three statements for each write 0.2 KB, and
  // begun writes without a deadline 0.2 KB.
  worker: 112 * 1024,
  // Of this, scans outside SQLite's virtual machine take 18 KB: docs/decisions/0076 and 0099. Columns of binary JSON
  // take 2.3 KB, and raised the limit by 2 KB: docs/decisions/0098.
  wasm: 381 * 1024,
  // Loaded only for schemas with document columns. Most of it is Yjs; binary JSON is 0.7 KB, and undo of edits 0.4 KB.
  documents: 38.2 * 1024,
};

// With content hashes in the names, a file that refers to other files would vary in compressed size by some bytes.
const FILE_NAMES = {
  entryFileNames: 'assets/[name]-00000000.js',
  chunkFileNames: 'assets/[name]-00000000.js',
  assetFileNames: 'assets/[name]-00000000[extname]',
};

type Part = keyof typeof BUDGET_BYTES;
type Output = Rolldown.RolldownOutput['output'];

async function buildPage(): Promise<Record<Part, number>> {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const { output } = (await build({
    root,
    configFile: false,
    logLevel: 'error',
    worker: { format: 'es', rolldownOptions: { output: FILE_NAMES } },
    build: {
      write: false,
      target: 'es2023',
      modulePreload: { polyfill: false },
      rolldownOptions: { input: `${root}page.ts`, output: FILE_NAMES },
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

it('the first load of a page stays within its budget', async () => {
  const sizes = await buildPage();
  for (const part of Object.keys(sizes) as Part[]) {
    const kib = (sizes[part] / 1024).toFixed(2);
    console.info(`First load, gzip: ${part} ${kib} KB of ${BUDGET_BYTES[part] / 1024}`);
    expect(sizes[part], part).toBeGreaterThan(1024);
    expect(sizes[part], part).toBeLessThan(BUDGET_BYTES[part]);
  }
});
