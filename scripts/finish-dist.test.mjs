import { expect, it } from 'vitest';
import { rewriteModuleAddresses } from './finish-dist.mjs';

it("a worker's source address becomes that of the emitted module", () => {
  const code = "new Worker(new URL('../worker/entry.ts', import.meta.url), { type: 'module' });";
  const seen = /** @type {string[]} */ ([]);
  const finished = rewriteModuleAddresses(code, (address) => seen.push(address) > 0);
  expect(finished).toBe("new Worker(new URL('../worker/entry.js', import.meta.url), { type: 'module' });");
  expect(seen).toEqual(['../worker/entry.js']);
});

it('other addresses stay unchanged', () => {
  const code = "new URL('./wa-sqlite.wasm', import.meta.url); new URL('https://example.org/x.ts');";
  expect(rewriteModuleAddresses(code, () => false)).toBe(code);
});

it('a worker address without a module fails the build', () => {
  expect(() => rewriteModuleAddresses("new URL('./gone.ts', import.meta.url)", () => false)).toThrow('./gone.js');
});
