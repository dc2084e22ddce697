import { formatMinorForEditing } from '../money/format.ts';
import { parseTypedAmount, type DecimalMark } from '../money/parse.ts';
import type { PartRow } from '../queries/ledger.ts';
import type { PartFields } from './part-changes.ts';

/**
 * A part while it is typed. Its amount has the entry's direction: a minus is for what goes against it, such as a
 * deposit that comes back with a purchase.
 */
export interface PartDraft {
  /** Tells drafts apart while they are edited. */
  readonly key: string;
  /** Empty for a new one. */
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

/** The parts that drafts stand for; undefined while one of their amounts cannot be read. An empty amount is nothing. */
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

/** What parts leave over of an amount: 0 where they add up. */
export function remainder(amountMinor: number, parts: readonly { readonly amountMinor: number }[]): bigint {
  return parts.reduce((rest, part) => rest - BigInt(part.amountMinor), BigInt(amountMinor));
}
