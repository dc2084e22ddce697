import { runSeeds, seedsFrom, type SeedFailure } from './run-seeds.ts';
import { silentPassesAsText, tooManySilentPasses } from './silent-passes.ts';
import { sizeNamed } from './sizes.ts';

// node tests/simulation/hunt.ts FIRST COUNT [short|quick|deep] [SECONDS]: runs many histories, and lists the seeds that
// fail and the silent passes above their ceilings. Exits with 1 if there is either.

const [first = '1', count = '300', sizeName, maxSeconds = 'Infinity'] = process.argv.slice(2);
const size = sizeNamed(sizeName);
const onFailure = ({ seed, failure }: SeedFailure): void =>
  console.info(`${seed}: ${failure.split('\n').slice(0, 4).join(' ⏎ ').slice(0, 500)}`);
const { tally, histories, failures, seconds } = await runSeeds({
  seeds: seedsFrom(Number(first), Number(count)),
  size,
  stopAfter: Infinity,
  maxSeconds: Number(maxSeconds),
  onFailure,
});
console.info(String(tally));
console.info(silentPassesAsText(tally));
console.info(`${histories} histories, ${failures.length} failed, ${(histories / seconds).toFixed(1)} a second`);
const tooMany = tooManySilentPasses(tally, histories);
for (const line of tooMany) console.info(`too many silent passes: ${line}`);
if (failures.length + tooMany.length > 0) process.exitCode = 1;
