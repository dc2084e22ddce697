import type { Writer } from '../writer.ts';

/** What the bank says an account held, and what is recorded of it. */
export interface Statement {
  readonly accountId: string;
  /** The statement's day. */
  readonly date: string;
  readonly statementMinor: number;
  readonly clearedMinor: bigint;
}

/** Positive: the bank has more than what is cleared. */
export function differenceOf({
  statementMinor,
  clearedMinor,
}: Pick<Statement, 'statementMinor' | 'clearedMinor'>): bigint {
  return BigInt(statementMinor) - clearedMinor;
}

/** Locks what is cleared. Resolves to how many entries that were. */
export async function finishReconciling(writer: Writer, accountId: string): Promise<number> {
  const { changes } = await writer.execute(
    "UPDATE entries SET status = 'reconciled' WHERE accountId = ? AND status = 'cleared'",
    [accountId],
  );
  return changes;
}

/**
 * Enters what cannot be explained as an entry of its own, cleared. Its id is made of what it corrects: two people who
 * find the same difference at once, or a second press, have entered it once.
 */
export async function enterDifference(writer: Writer, statement: Statement): Promise<void> {
  const { accountId, date, statementMinor, clearedMinor } = statement;
  const differenceMinor = differenceOf(statement);
  if (differenceMinor === 0n) return;
  await writer.execute(
    `INSERT INTO entries (id, accountId, date, payee, amountMinor, enteredAtMs, status) VALUES (?, ?, ?, 'Balance adjustment', ?, ?, 'cleared')
     ON CONFLICT (id) DO NOTHING`,
    [`adjustment/${accountId}/${date}/${clearedMinor}/${statementMinor}`, accountId, date, differenceMinor, Date.now()],
  );
}
