/** The vertical axis of a chart: from `low` to `high`, both multiples of the gridline distance. */
export interface Scale {
  readonly low: number;
  readonly high: number;
  /** The gridlines, lowest first; 0 is always one of them. */
  readonly ticks: readonly number[];
}

/** As many as can be read at a glance, and one or two more if values are negative. */
const targetTicks = 4;

/**
 * A scale that contains 0 and all values, with gridlines at 1, 2 or 5 times a power of ten. In minor units of money;
 * for positions only, never for sums.
 */
export function scaleOf(values: readonly number[]): Scale {
  const least = Math.min(0, ...values);
  const most = Math.max(0, ...values);
  const step = niceStep((most - least) / targetTicks);
  const first = Math.floor(least / step);
  const last = Math.max(Math.ceil(most / step), first + 1);
  // `+ 0` turns -0 into 0.
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step + 0);
  return { low: first * step + 0, high: last * step, ticks };
}

/** The position of a value, from 0 at the lower end to 1 at the upper end. */
export function positionIn(scale: Scale, value: number): number {
  return (value - scale.low) / (scale.high - scale.low);
}

function niceStep(atLeast: number): number {
  if (atLeast <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(atLeast));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= atLeast) ?? 10;
  return Math.max(factor * power, 1);
}
