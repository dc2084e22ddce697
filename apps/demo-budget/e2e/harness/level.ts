import { levelOfThisRun } from '../../../../scripts/tests/level.mjs';

/** Whether this run repeats what `npm test` does once; true for `npm run verify`. */
export const isThorough: boolean = levelOfThisRun() !== 'test';
