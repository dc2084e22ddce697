import { inject } from 'vitest';

/** `test` is `npm test`, `verify` is `npm run verify`, `deep` is `npm run verify:deep`; set by `ROCKPOOL_LEVEL`. */
export type Level = 'test' | 'verify' | 'deep';

declare module 'vitest' {
  interface ProvidedContext {
    level: Level;
  }
}

/** The level of this run, in Node and in a browser. */
export const level: Level = inject('level');

/** Returns the value for the level of this run. `deep` defaults to `verify`. */
export function atLevel<T>(counts: { readonly test: T; readonly verify: T; readonly deep?: T }): T {
  if (level === 'test') return counts.test;
  return level === 'deep' ? (counts.deep ?? counts.verify) : counts.verify;
}
