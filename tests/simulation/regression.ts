import type { Plan } from './operations.ts';

/** A history that once failed, reduced to the steps it needs. Stored as a file in regressions/. */
export interface Regression extends Plan {
  readonly why: string;
}

/** The file format: one line per step. */
export function printRegression({ why, seed, devices, operations, variant }: Regression): string {
  const lines = operations.map((operation) => `    ${JSON.stringify(operation)}`).join(',\n');
  return `{\n  "why": ${JSON.stringify(why)},\n  "seed": ${seed},\n  "devices": ${devices},\n${variant === undefined ? '' : `  "variant": ${JSON.stringify(variant)},\n`}  "operations": [\n${lines}\n  ]\n}`;
}
