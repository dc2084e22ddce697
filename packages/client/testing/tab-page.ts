import { createClient } from '../src/create-client.ts';

// The script of a page of its own, in a frame: the test that made the frame finds the functions here, and removing the
// frame kills the tab.

export interface TabWindow extends Window {
  createClient?: typeof createClient;
}

(window as TabWindow).createClient = createClient;

// Vitest rewrites dynamic imports to go through its runner, which only its own page has.
Object.assign(globalThis, { __vitest_browser_runner__: { wrapDynamicImport: <T>(load: () => T): T => load() } });
