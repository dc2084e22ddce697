import { expect, it } from 'vitest';
import { rewriteModuleAddresses } from './finish-dist.mjs';

it("rewrites a worker's source address to that of the emitted module", () => {
  const code = "new Worker(new URL('../worker/entry.ts', import.meta.url), { type: 'module' });";
  const seen = /** @type {string[]} */ ([]);
  const finished = rewriteModuleAddresses(code, (address) => seen.push(address) > 0);
  expect(finished).toBe("new Worker(new URL('../worker/entry.js', import.meta.url), { type: 'module' });");
  expect(seen).toEqual(['../worker/entry.js']);
});

it('leaves other addresses alone', () => {
  const code = "new URL('./wa-sqlite.wasm', import.meta.url); new URL('https://example.org/x.ts');";
  expect(rewriteModuleAddresses(code, () => false)).toBe(code);
});

it('fails the build if the module does not exist', () => {
  expect(() => rewriteModuleAddresses("new URL('./gone.ts', import.meta.url)", () => false)).toThrow('./gone.js');
});
