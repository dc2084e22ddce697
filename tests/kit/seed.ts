import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    seed: number;
  }
}

/**
 * The seed of this run, below 2^30, in Node and in a browser: fixed at the level `test`, fresh at the others. A test
 * that needs several seeds counts up from it.
 */
export const seedOfRun: number = inject('seed');
