import type { LedgerRow } from '../queries/ledger.ts';

/** How a transfer is incomplete after concurrent changes of several devices. */
export type TransferProblem =
  /** Another device deleted the other side, or made it part of another transfer, before it received this one. */
  | 'no-other-side'
  /** One device changed one side while another wrote both, so that money would appear or vanish. */
  | 'sides-differ';

/** Null for a transfer without a problem, and for any other entry. */
export function transferProblem({
  transferId,
  amountMinor,
  currency,
  otherMinor,
  otherCurrency,
}: Pick<
  LedgerRow,
  'transferId' | 'amountMinor' | 'currency' | 'otherMinor' | 'otherCurrency'
>): TransferProblem | null {
  if (transferId === null) return null;
  if (otherMinor === null) return 'no-other-side';
  const fits = currency === otherCurrency ? amountMinor === -otherMinor : amountMinor * otherMinor <= 0;
  return fits ? null : 'sides-differ';
}
