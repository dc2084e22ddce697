import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../children.mjs';

// Every TypeScript block in the documentation comes from a type-checked file, which a test usually runs.

/**
 * Pages and the files that contain their blocks, line by line. Omits blocks that a file's own test compares byte for
 * byte.
 */
const SOURCES = {
  'README.md': ['examples/quick-start/schema.ts', 'examples/quick-start/quick-start.ts'],
  'docs/concepts.md': ['packages/client/testing/docs-snippets.tsx'],
  'docs/guides/client.md': ['packages/client/testing/client-guide.ts', 'packages/client/testing/docs-snippets.tsx'],
  'docs/guides/drizzle.md': ['packages/client/testing/drizzle/guide.ts'],
  'docs/guides/first-app.md': ['schema.ts', 'main.tsx', 'app.tsx', 'server.ts', 'vite.config.ts'].map(
    (name) => `examples/todo/${name}`,
  ),
  'docs/guides/history.md': ['tests/history/guide.test.ts'],
  'docs/guides/testing.md': ['tests/node-client/guide.test.ts'],
  'docs/quick-start.md': ['schema.ts', 'quick-start.ts', 'write-schema.ts'].map(
    (name) => `examples/quick-start/${name}`,
  ),
  'docs/server.md': ['packages/sync-server/testing/server-guide.ts', 'examples/quick-start/write-schema.ts'],
  'packages/client/README.md': ['packages/client/testing/docs-snippets.tsx'],
  'packages/sync-server/README.md': ['packages/sync-server/testing/server-guide.ts'],
  'packages/vfs-opfs/README.md': ['examples/own-storage/notes.worker.ts'],
};

/** Lines that occur in no file, each with its reason. */
const EXCEPTIONS = new Map([
  [
    'new EditorView({ parent, doc: text.toString(), extensions: [yCollab(text, note.awareness, { undoManager: note.undoManager })] });',
    'CodeMirror is not a dependency; the line before it is checked',
  ],
  [
    "if (import.meta.env.DEV) (await import('@rockpool/client/devtools')).openDevtools(client);",
    'import.meta.env is of Vite',
  ],
  ["const sync = createSyncServer({ dataDir: './data', schema, secret });", 'server-guide.ts has other settings'],
  ["sync.attach(httpServer, '/sync'); // WebSockets", 'server-guide.ts has another name for the HTTP server'],
]);

/** A configuration of Vite in a guide: examples/todo has the same, and tests/bundlers builds with it. */
const isViteConfiguration = (/** @type {string} */ code) => code.startsWith('export default {\n  optimizeDeps');

/** Generated from the sources. */
const GENERATED = ['docs/api.md', 'docs/configuration.md', 'docs/errors.md'];

const read = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');

/** The formatter may break lines differently, and sources may use other import paths. */
const withoutSpace = (/** @type {string} */ text) =>
  text.replace(/\/\/ .*$/gm, '').replace(/\s+|,(?=\s*(?:[)\]}]|$))/g, '');

const isImport = (/** @type {string} */ line) => /^(import\b|} from )/.test(line);

const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/README.md'], {
  cwd: root,
  exclude: (name) => name.includes('node_modules'),
}).filter((page) => !GENERATED.includes(page));

it('every line of TypeScript in the documentation is type-checked code, or an exception with a reason', () => {
  const unknown = [];
  const unused = new Set(EXCEPTIONS.keys());
  for (const page of pages) {
    const sources = /** @type {Record<string, string[]>} */ (SOURCES)[page] ?? [];
    const code = withoutSpace(sources.map(read).join('\n'));
    for (const [, block = ''] of read(page).matchAll(/^```(?:ts|tsx|js|jsx|mjs|typescript|javascript)\n(.*?)^```/gms)) {
      if (isViteConfiguration(block)) continue;
      for (const line of block.split('\n').filter((text) => !isImport(text))) {
        if (unused.delete(line) || EXCEPTIONS.has(line) || code.includes(withoutSpace(line))) continue;
        unknown.push(`${page}: ${line}`);
      }
    }
  }
  expect(unknown).toEqual([]);
  expect([...unused]).toEqual([]);
});

it('the quick start of the site is the example, byte for byte', () => {
  for (const name of ['schema.ts', 'quick-start.ts', 'write-schema.ts'])
    expect(read('docs/quick-start.md')).toContain(`\`\`\`ts\n${read(`examples/quick-start/${name}`)}\`\`\`\n`);
  const page = read('examples/quick-start/index.html').replace('quick-start.ts', 'main.ts');
  expect(read('docs/quick-start.md')).toContain(`\`\`\`html\n${page}\`\`\`\n`);
});
