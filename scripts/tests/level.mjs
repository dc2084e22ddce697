// The level of a test run, set by `ROCKPOOL_LEVEL`. Only this file reads the variable; tests use
// `tests/kit/level.ts`, and end-to-end tests `apps/demo-budget/e2e/harness/level.ts`.

/**
 * - `test`: `npm test`, minutes. Every behaviour once.
 * - `verify`: `npm run verify`. Every medium, more random histories.
 * - `deep`: `npm run verify:deep`. Hours.
 *
 * @typedef {'test' | 'verify' | 'deep'} Level
 */

/** @type {readonly Level[]} each includes the one before it */
export const levels = ['test', 'verify', 'deep'];

/** @returns {Level} */
export function levelOfThisRun() {
  const level = process.env['ROCKPOOL_LEVEL'] ?? 'test';
  const known = levels.find((one) => one === level);
  if (known === undefined) throw new Error(`ROCKPOOL_LEVEL is "${level}"; it must be one of ${levels.join(', ')}`);
  return known;
}
