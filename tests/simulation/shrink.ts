import { planRegression, type Regression } from './regression.ts';
import { runHistory } from './run-history.ts';
import type { SizeName } from './sizes.ts';

// node tests/simulation/shrink.ts SEED [quick|deep]: drops steps of a failing history for as long as it fails in the same way, and prints what a file in
// regressions/ takes.

const [seedText, size = 'quick'] = process.argv.slice(2);
const seed = Number(seedText);
const all: Regression = { seed, size: size as SizeName, keep: null, why: '' };

// Times and numbers change as steps go.
const kindOf = (failure: string): string => failure.replaceAll(/\d+/g, '#').slice(0, 60);
const failureOf = async (keep: readonly number[]): Promise<string | null> => (await runHistory(planRegression({ ...all, keep }))).failure;

const { failure: first, stepsTaken } = await runHistory(planRegression(all));
if (first === null) throw new Error('this history does not fail');
let keep = planRegression(all).operations.slice(0, stepsTaken).map(({ number }) => number);
for (let chunk = keep.length >> 1; chunk >= 1; chunk >>= 1) {
  for (let at = 0; at < keep.length; ) {
    const fewer = [...keep.slice(0, at), ...keep.slice(at + chunk)];
    const failure = await failureOf(fewer);
    if (failure !== null && kindOf(failure) === kindOf(first)) keep = fewer;
    else at += chunk;
  }
}
const { operations } = planRegression({ ...all, keep });
for (const { number, kind, device } of operations) console.info(`${number} ${kind} ${device}`);
console.info(await failureOf(keep));
console.info(JSON.stringify({ ...all, keep, why: kindOf(first) }));
