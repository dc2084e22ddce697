import { RockpoolError } from '@rockpool/shared';
import { afterEach, expect, it } from 'vitest';
import { commands } from 'vitest/browser';
import { loadPart } from './load-part.ts';

declare module 'vitest/browser' {
  interface BrowserCommands {
    /** Serves a script whose first requests fail, until `endFailures`. */
    failFirst: (url: string, failures: string, body?: string) => Promise<void>;
    /** Without it, the tests after this one would fetch all scripts again: see vitest.config.ts. */
    endFailures: () => Promise<void>;
  }
}

afterEach(() => commands.endFailures());

/** The form to which a bundler compiles the import of a chunk. */
const load = (url: string) => (): Promise<{ readonly answer: number; readonly url: string }> =>
  import(/* @vite-ignore */ url);

it('loadPart rejects with a typed error while requests for a chunk fail, and loads the chunk on the next use', async () => {
  const url = new URL('/chunk-offline.js', location.href).href;
  await commands.failFirst(url, '2');
  await expect(loadPart('documents', load(url))).rejects.toMatchObject({
    code: 'code-unloadable',
    recovery: 'retry',
    fields: { part: 'documents' },
    cause: expect.any(TypeError),
  });
  await expect(loadPart('documents', load(url))).resolves.toMatchObject({ answer: 42 });
});

it.each([
  ['/chunk-once.js', '?again='],
  ['/chunk-version.js?version=2', '?version=2&again='],
])('loadPart requests %s under a new address after one failed request', async (path, query) => {
  const url = new URL(path, location.href).href;
  await commands.failFirst(url, '1');
  const part = await loadPart('http', load(url));
  expect(part.answer).toBe(42);
  expect(part.url).toContain(query);
});

it('loadPart rejects with a typed error if the browser does not name the failed address', async () => {
  const cause = new TypeError('Importing a module script failed.');
  const failed = loadPart('http', () => Promise.reject(cause));
  await expect(failed).rejects.toBeInstanceOf(RockpoolError);
  await expect(failed).rejects.toMatchObject({ code: 'code-unloadable', cause });
});
