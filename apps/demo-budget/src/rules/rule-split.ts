/** A part of an entry that a rule splits. */
export interface RulePart {
  /** Null for no category. */
  readonly categoryId: string | null;
  /** Above 0, with at most two decimals. Null for the last part only, which gets the rest. */
  readonly percent: number | null;
}

export interface SplitAmount {
  readonly categoryId: string | null;
  readonly amountMinor: number;
}

/**
 * The parts of a stored split; undefined if a newer version of the app has written one that this version cannot read.
 */
export function readSplit(text: string): readonly RulePart[] | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(parts) && parts.every(isPart) && isSplit(parts) ? parts : undefined;
}

/**
 * Whether the parts are a valid split: none, or several, where the percentages of all but the last add up to less than
 * 100.
 */
export function isSplit(parts: readonly RulePart[]): boolean {
  const shares = parts.slice(0, -1).map(({ percent }) => hundredths(percent ?? 0));
  return (
    parts.length === 0 ||
    (parts.length > 1 &&
      parts.at(-1)?.percent === null &&
      shares.every((share) => share > 0) &&
      shares.reduce((sum, share) => sum + share, 0) < 10_000)
  );
}

/**
 * Splits an amount into parts. The boundaries between parts are rounded instead of the parts, so that the parts add up
 * and none changes its direction.
 */
export function splitAmount(amountMinor: number, parts: readonly RulePart[]): SplitAmount[] {
  const boundaries = boundariesOf(parts);
  const upTo = (index: number): bigint => shareOf(amountMinor, BigInt(boundaries[index] ?? 0));
  return parts.map(({ categoryId }, index) => ({
    categoryId,
    amountMinor: Number(upTo(index) - (index === 0 ? 0n : upTo(index - 1))),
  }));
}

/** Where each part ends, in hundredths of a percent of the amount. The last one ends at 10,000. */
export function boundariesOf(parts: readonly RulePart[]): number[] {
  let end = 0;
  return parts.map(({ percent }) => (end = percent === null ? 10_000 : end + hundredths(percent)));
}

/** SQL for `splitAmount` of an amount up to a boundary. SQLite divides integers towards zero. */
export function shareSql(amount: string, boundary: string): string {
  return `(abs(${amount}) / 10000 * ${boundary} + (abs(${amount}) % 10000 * ${boundary} + 5000) / 10000) * CASE WHEN ${amount} < 0 THEN -1 ELSE 1 END`;
}

function shareOf(amountMinor: number, boundary: bigint): bigint {
  const amount = BigInt(amountMinor);
  const share = ((amount < 0n ? -amount : amount) * boundary + 5_000n) / 10_000n;
  return amount < 0n ? -share : share;
}

function hundredths(percent: number): number {
  return Math.round(percent * 100);
}

function isPart(given: unknown): given is RulePart {
  if (typeof given !== 'object' || given === null) return false;
  const { categoryId, percent } = given as Partial<Record<keyof RulePart, unknown>>;
  return (categoryId === null || typeof categoryId === 'string') && (percent === null || typeof percent === 'number');
}
