import { planHistory, type Operation } from './operations.ts';
import { printRegression } from './regression.ts';
import { runHistory } from './run-history.ts';
import { sizeNamed } from './sizes.ts';

// node tests/simulation/shrink.ts SEED [short|quick|deep]: drops steps of a failing history as long as it still fails
// in the same way, and prints a file for regressions/. Progress goes to stderr.

const [seedText, size] = process.argv.slice(2);
const plan = planHistory(Number(seedText), sizeNamed(size));

// Times and numbers change when steps are dropped.
const kindOf = (failure: string): string => failure.replaceAll(/\d+/g, '#').slice(0, 60);
const failureOf = async (operations: readonly Operation[]): Promise<string | null> =>
  (await runHistory({ ...plan, operations })).failure;

const { failure: first, stepsTaken } = await runHistory(plan);
if (first === null) throw new Error('this history does not fail, so there is nothing to shrink');
let operations = plan.operations.slice(0, stepsTaken);
console.error(`${operations.length} steps: ${first.split('\n')[0]}`);
for (let chunk = operations.length >> 1; chunk >= 1; chunk >>= 1) {
  console.error(`dropping ${chunk} at a time`);
  for (let at = 0; at < operations.length;) {
    const fewer = [...operations.slice(0, at), ...operations.slice(at + chunk)];
    const failure = await failureOf(fewer);
    if (failure === null || kindOf(failure) !== kindOf(first)) {
      at += chunk;
      continue;
    }
    operations = fewer;
    console.error(`  ${operations.length} steps, ${at} of them needed`);
  }
}
console.info(await failureOf(operations));
console.info(printRegression({ ...plan, operations, why: kindOf(first) }));
