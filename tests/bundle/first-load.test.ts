import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { expect, it } from 'vitest';

// What a page loads before its first query, as `vite build` makes it of the smallest app, in bytes after gzip.
const BUDGET_BYTES = {
  page: 15 * 1024,
  // 27 KB of it are the script that Emscripten wrote for SQLite, 35 KB are Yjs, which merges documents.
  worker: 140 * 1024,
  wasm: 360 * 1024,
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
    build: { write: false, target: 'es2023', modulePreload: { polyfill: false }, rolldownOptions: { input: `${root}page.ts` } },
  })) as Rolldown.RolldownOutput;
  const sizes: Record<Part, number> = { page: 0, worker: 0, wasm: 0 };
  for (const file of output) {
    const part = partOf(file, output);
    if (part !== null) sizes[part] += gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 }).length;
  }
  return sizes;
}

/** Null for what is loaded when it is asked for, such as Yjs for documents. Vite gives the worker as a finished asset. */
function partOf(file: Output[number], output: Output): Part | null {
  if (file.fileName.endsWith('.wasm')) return 'wasm';
  if (file.type === 'asset') return 'worker';
  return isFirst(file, output) ? 'page' : null;
}

/** The page's own script, and what that imports at once. */
function isFirst(chunk: Rolldown.OutputChunk, output: Output): boolean {
  return chunk.isEntry || output.some((other) => other.type === 'chunk' && other.imports.includes(chunk.fileName) && isFirst(other, output));
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
