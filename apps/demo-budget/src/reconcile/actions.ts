import { maxAmountMinor } from '../money/parse.ts';
import type { Writer } from '../writer.ts';

/** The bank's balance of an account, and the recorded entries it is compared with. */
export interface Reconciliation {
  readonly accountId: string;
  /** The statement's day. */
  readonly date: string;
  readonly statementMinor: number;
  readonly clearedMinor: bigint;
}

/** Positive if the bank has more than the cleared balance. */
export function differenceOf({
  statementMinor,
  clearedMinor,
}: Pick<Reconciliation, 'statementMinor' | 'clearedMinor'>): bigint {
  return BigInt(statementMinor) - clearedMinor;
}

/** Whether a difference can be entered: an entry has at most 2^53 − 1 minor units, but a balance may have more. */
export function mayEnter(differenceMinor: bigint): boolean {
  return differenceMinor >= -BigInt(maxAmountMinor) && differenceMinor <= BigInt(maxAmountMinor);
}

/** Locks the cleared entries as reconciled. Resolves to the number of entries. */
export async function finishReconciling(writer: Writer, accountId: string): Promise<number> {
  const { changes } = await writer.execute(
    "UPDATE entries SET status = 'reconciled' WHERE accountId = ? AND status = 'cleared'",
    [accountId],
  );
  return changes;
}

/**
 * Adds a cleared entry for an unexplained difference. Its id is derived from the corrected balance, so that two people
 * who find the same difference at once, or a second click, add it only once.
 */
export async function enterDifference(writer: Writer, statement: Reconciliation): Promise<void> {
  const { accountId, date, statementMinor, clearedMinor } = statement;
  const differenceMinor = differenceOf(statement);
  if (differenceMinor === 0n || !mayEnter(differenceMinor)) return;
  await writer.execute(
    `INSERT INTO entries (id, accountId, date, payee, amountMinor, enteredAtMs, status) VALUES (?, ?, ?, 'Balance adjustment', ?, ?, 'cleared')
     ON CONFLICT (id) DO NOTHING`,
    [`adjustment/${accountId}/${date}/${clearedMinor}/${statementMinor}`, accountId, date, differenceMinor, Date.now()],
  );
}
