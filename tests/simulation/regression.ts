import type { Plan } from './operations.ts';

/** A history that once failed, with as few steps as it needs. A file in regressions/ holds one. */
export interface Regression extends Plan {
  readonly why: string;
}

/** As the files have it: a line for each step. */
export function printRegression({ why, seed, devices, operations, variant }: Regression): string {
  const lines = operations.map((operation) => `    ${JSON.stringify(operation)}`).join(',\n');
  return `{\n  "why": ${JSON.stringify(why)},\n  "seed": ${seed},\n  "devices": ${devices},\n${variant === undefined ? '' : `  "variant": ${JSON.stringify(variant)},\n`}  "operations": [\n${lines}\n  ]\n}`;
}
