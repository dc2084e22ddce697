import { runSeeds, seedsFrom } from './run-seeds.ts';
import { SIZES, type SizeName } from './sizes.ts';

// node tests/simulation/hunt.ts FIRST COUNT [quick|deep]: runs many histories, and lists the seeds that fail.

const [first = '1', count = '300', sizeName = 'quick'] = process.argv.slice(2);
const size = SIZES[sizeName as SizeName];
const { tally, histories, failures, seconds } = await runSeeds({ seeds: seedsFrom(Number(first), Number(count)), size, stopAfter: Infinity });
console.info(String(tally));
for (const { seed, failure } of failures.slice(0, 12)) console.info(`${seed}: ${failure.split('\n').slice(0, 4).join(' ⏎ ').slice(0, 500)}`);
console.info(`${histories} histories, ${failures.length} failed, ${(histories / seconds).toFixed(1)} a second`);
