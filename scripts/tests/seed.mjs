// The seed of a test run, from which everything random in its Node tests follows. Only this file reads `ROCKPOOL_SEED`;
// tests use `tests/kit/seed.ts`.

/** The fixed seed of `npm test`, with which a test that passed once passes again. */
const fixedSeed = 1;

/** Tests count up from the seed, and fast-check takes seeds of 32 bits. */
const mostSeeds = 2 ** 30;

/**
 * The level `test` has a fixed seed. The others draw a fresh one, unless `ROCKPOOL_SEED` repeats an earlier run.
 *
 * @param {import('./level.mjs').Level} level
 * @param {string | undefined} wanted
 * @returns {number}
 */
export function seedOfThisRun(level, wanted = process.env['ROCKPOOL_SEED']) {
  if (wanted === undefined || wanted === '') return level === 'test' ? fixedSeed : drawSeed();
  const seed = Number(wanted);
  if (!Number.isInteger(seed) || seed < 0 || seed >= mostSeeds)
    throw new Error(`ROCKPOOL_SEED is "${wanted}"; it must be an integer from 0 to ${mostSeeds - 1}`);
  return seed;
}

function drawSeed() {
  return Math.floor(Math.random() * mostSeeds);
}

/**
 * @param {number} seed
 * @param {import('./level.mjs').Level} level
 * @returns {string} what to put before a command so that it has this seed; empty if it has it anyway
 */
export function seedInEnvironment(seed, level) {
  return level === 'test' && seed === fixedSeed ? '' : `ROCKPOOL_SEED=${seed} `;
}
