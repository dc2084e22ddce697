import { formatMinorForEditing } from '../money/format.ts';
import type { DecimalMark } from '../money/parse.ts';
import { parseTypedAmount } from '../money/typed-amount.ts';
import type { PartRow } from '../queries/ledger.ts';
import type { PartFields } from './part-changes.ts';

/**
 * A part being edited. Its amount is in the entry's direction; a minus means the opposite direction, such as a deposit
 * refunded with a purchase.
 */
export interface PartDraft {
  /** Identifies a draft while it is edited. */
  readonly key: string;
  /** Empty for a new part. */
  readonly id: string;
  readonly categoryId: string | null;
  readonly amount: string;
  readonly notes: string;
}

/** -1 for an entry that takes money out, else 1. */
export type Sign = -1 | 1;

export function draftsOf(parts: readonly PartRow[], sign: Sign, currency: string, mark: DecimalMark): PartDraft[] {
  return parts.map(({ id, categoryId, amountMinor, notes }) => ({
    key: id,
    id,
    categoryId,
    notes,
    amount: formatMinorForEditing(BigInt(amountMinor) * BigInt(sign), currency, mark),
  }));
}

/** The parts of the drafts; undefined while an amount is unreadable. An empty amount is zero. */
export function partsOf(
  drafts: readonly PartDraft[],
  sign: Sign,
  currency: string,
  mark: DecimalMark,
): PartFields[] | undefined {
  const parts: PartFields[] = [];
  for (const { id, categoryId, amount, notes } of drafts) {
    const parsed = amount.trim() === '' ? ({ ok: true, value: 0 } as const) : parseTypedAmount(amount, currency, mark);
    if (!parsed.ok) return undefined;
    parts.push({ id, categoryId, notes: notes.trim(), amountMinor: parsed.value === 0 ? 0 : parsed.value * sign });
  }
  return parts;
}

/** The amount that the parts leave over: 0 if they add up. */
export function remainder(amountMinor: number, parts: readonly { readonly amountMinor: number }[]): bigint {
  return parts.reduce((rest, part) => rest - BigInt(part.amountMinor), BigInt(amountMinor));
}
