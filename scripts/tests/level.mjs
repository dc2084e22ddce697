// How much a run of the tests does. `ROCKPOOL_LEVEL` says it; this file alone reads it, and tests read it through
// `tests/support/level.ts`.

/**
 * - `test`: `npm test`, minutes. Every behaviour once.
 * - `verify`: `npm run verify`. Every medium, more random histories.
 * - `deep`: `npm run verify:deep`. Hours.
 *
 * @typedef {'test' | 'verify' | 'deep'} Level
 */

/** @type {readonly Level[]} each does all that the one before it does */
export const levels = ['test', 'verify', 'deep'];

/** @returns {Level} */
export function levelOfThisRun() {
  const level = process.env['ROCKPOOL_LEVEL'] ?? 'test';
  const known = levels.find((one) => one === level);
  if (known === undefined) throw new Error(`ROCKPOOL_LEVEL is "${level}"; it can be ${levels.join(', ')}`);
  return known;
}
