import { readFileSync } from 'node:fs';
import { planHistory, type Plan } from './operations.ts';
import { runHistory } from './run-history.ts';
import { sizeNamed } from './sizes.ts';

// node tests/simulation/replay.ts SEED [short|quick|deep] [--log], or replay.ts regressions/FILE [--log]: runs one
// history again.

const [what = '', ...rest] = process.argv.slice(2);
const plan = what.endsWith('.json')
  ? (JSON.parse(readFileSync(what, 'utf8')) as Plan)
  : planHistory(Number(what), sizeNamed(rest.find((argument) => argument !== '--log')));
const startMs = performance.now();
const { failure, log, logHash, tally } = await runHistory(plan);
if (rest.includes('--log')) console.info(log.join('\n'));
console.info(Object.fromEntries(tally));
console.info(`${logHash.slice(0, 16)} in ${(performance.now() - startMs).toFixed(0)} ms`);
console.info(failure === null ? 'passed' : `failed: ${failure}`);
process.exitCode = failure === null ? 0 : 1;
