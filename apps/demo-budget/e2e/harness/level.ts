import { levelOfThisRun, type Level } from '../../../../scripts/tests/level.mjs';

/** Whether this run repeats what `npm test` does once; true for `npm run verify`. */
export const isThorough: boolean = levelOfThisRun() !== 'test';

/** The specs of a level, as patterns of Playwright. */
export function specsOf(level: Level): { readonly testMatch: string; readonly testIgnore: string[] } {
  return { testMatch: '**/*.spec.ts', testIgnore: level === 'test' ? ['**/*.verify.spec.ts'] : [] };
}
