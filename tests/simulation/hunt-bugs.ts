import { planHistory } from './operations.ts';
import { keepsHistory } from './past-check.ts';
import { runSeeds } from './run-seeds.ts';
import type { SeededBug } from './seeded-bug.ts';
import { SEEDED_BUGS } from './seeded-bugs.ts';
import { SIZES } from './sizes.ts';
import { PLAIN } from './variant.ts';

export interface Catch {
  readonly bug: string;
  /** Null if not caught. */
  readonly histories: number | null;
  readonly seconds: number;
  readonly failure: string;
}

/** Hunts for each seeded bug within the caller's limit. */
export async function* huntBugs(names: readonly string[], mostHistories: number): AsyncGenerator<Catch> {
  for (const bug of SEEDED_BUGS.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const { failures, histories, seconds } = await runSeeds({
      seeds: seedsThatShow(bug, mostHistories),
      size: SIZES.quick,
      bug,
    });
    yield {
      bug: bug.name,
      histories: failures.length === 0 ? null : histories,
      seconds,
      failure: failures[0]?.failure ?? '',
    };
  }
}

function* seedsThatShow({ needs }: SeededBug, count: number): Generator<number> {
  for (let seed = 1, found = 0; found < count; seed++) {
    const { variant = PLAIN, operations } = planHistory(seed, SIZES.quick);
    if (needs === 'several instances' && (variant.instances ?? 1) === 1) continue;
    if (needs === 'older apps' && variant.apps === undefined) continue;
    if (needs === 'an operator' && variant.operated === undefined) continue;
    if (needs === 'history' && !keepsHistory(seed, variant)) continue;
    if (needs === 'withdrawals' && !operations.some(({ kind }) => kind === 'withdraw waiting')) continue;
    found++;
    yield seed;
  }
}

export function tableOf(catches: readonly Catch[]): string {
  const width = Math.max(...catches.map(({ bug }) => bug.length));
  return catches
    .map(
      ({ bug, histories, seconds, failure }) =>
        `${bug.padEnd(width)}  ${histories === null ? 'NOT CAUGHT' : `${String(histories).padStart(5)} histories`}  ${seconds.toFixed(1).padStart(6)} s  ${(failure.split('\n')[0] ?? '').slice(0, 110)}`,
    )
    .join('\n');
}

if (import.meta.main) {
  // node tests/simulation/hunt-bugs.ts [MOST [NAME …]]: hunts for all seeded bugs, or for those named.
  const [most = '300', ...names] = process.argv.slice(2);
  for await (const one of huntBugs(names, Number(most))) console.info(tableOf([one]));
}
