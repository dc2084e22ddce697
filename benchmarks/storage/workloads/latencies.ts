/** How long calls of one kind took, in milliseconds. */
export interface Latencies {
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  readonly count: number;
}

export function latenciesOf(latenciesMs: readonly number[]): Latencies {
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { medianMs: at(0.5), p95Ms: at(0.95), maxMs: at(1), count: sorted.length };
}
