/** One line of `results/GROUP.json`. */
export interface ResultRow {
  readonly workload: string;
  readonly subject: string;
  readonly variant: string;
  readonly unit: string;
  readonly better: 'lower' | 'higher';
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly runs: number;
}

export type SampleKey = Pick<ResultRow, 'workload' | 'subject' | 'variant' | 'unit' | 'better'>;

/** All measurements, in the order in which their lines first appeared. */
export class Samples {
  readonly #values = new Map<string, { readonly key: SampleKey; readonly values: number[] }>();

  add(key: SampleKey, value: number): void {
    const id = JSON.stringify([key.workload, key.subject, key.variant]);
    const line = this.#values.get(id) ?? { key, values: [] };
    line.values.push(value);
    this.#values.set(id, line);
  }

  rows(): ResultRow[] {
    return [...this.#values.values()].map(({ key, values }) => {
      const { workload, subject, variant, unit, better } = key;
      const sorted = values.toSorted((a, b) => a - b);
      const round = (value: number): number => Number(value.toPrecision(4));
      return {
        workload,
        subject,
        variant,
        unit,
        better,
        median: round(medianOf(sorted)),
        min: round(sorted[0] as number),
        max: round(sorted.at(-1) as number),
        runs: sorted.length,
      };
    });
  }
}

function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
