import type { Floor } from './floors.ts';
import type { ProfiledWork } from './profile.ts';
import { STEPS } from './steps.ts';

/** One phase of the benchmark. */
export interface PathColumn {
  readonly name: string;
  readonly rows: number;
  readonly work: ProfiledWork;
}

/**
 * Prints microseconds of processor time per row by step and phase, with SQLite's share in brackets, then the floors.
 */
export function pathTables(columns: readonly PathColumn[], floors: readonly Floor[]): string {
  const named = STEPS.map(({ piece, name }) => `${piece}: ${name}`);
  const others = columns.flatMap(({ work }) => [...work.stepUs.keys()]).filter((step) => !named.includes(step));
  const cell = ({ rows, work }: PathColumn, step: string): string => {
    const time = work.stepUs.get(step);
    if (time === undefined) return '–';
    const wasm = time.wasmUs / rows;
    return `${(time.totalUs / rows).toFixed(1)}${wasm >= 0.05 ? ` (${wasm.toFixed(1)})` : ''}`;
  };
  const sum = ({ rows, work }: PathColumn): string =>
    ([...work.stepUs.values()].reduce((total, { totalUs }) => total + totalUs, 0) / rows).toFixed(1);
  const lines = [
    `| µs a row (SQLite) | ${columns.map(({ name }) => name).join(' | ')} |`,
    `|---|${columns.map(() => '---:|').join('')}`,
    ...[...named, ...new Set(others)].map(
      (step) => `| ${step} | ${columns.map((one) => cell(one, step)).join(' | ')} |`,
    ),
    `| **this thread** | ${columns.map(sum).join(' | ')} |`,
    `| **whole process** | ${columns.map(({ rows, work }) => (work.processUs / rows).toFixed(1)).join(' | ')} |`,
    '',
    '| floor | µs |',
    '|---|---:|',
    ...floors.map(({ name, us }) => `| ${name} | ${us.toFixed(1)} |`),
  ];
  return lines.join('\n');
}
