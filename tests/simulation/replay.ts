import { planHistory } from './operations.ts';
import { runHistory } from './run-history.ts';
import { SIZES } from './sizes.ts';

// node tests/simulation/replay.ts SEED [quick|deep] [--log]: runs one history again.

const [seedText, sizeName = 'quick', ...flags] = process.argv.slice(2);
const size = SIZES[sizeName as keyof typeof SIZES];
const startMs = performance.now();
const { failure, log, logHash, tally } = await runHistory(planHistory(Number(seedText), size));
if (flags.includes('--log')) console.info(log.join('\n'));
console.info(Object.fromEntries(tally));
console.info(`${logHash.slice(0, 16)} in ${(performance.now() - startMs).toFixed(0)} ms`);
console.info(failure === null ? 'passed' : `failed: ${failure}`);
process.exitCode = failure === null ? 0 : 1;
