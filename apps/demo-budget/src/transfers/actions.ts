import { newId, type SqlStatement } from '@rockpool/client';
import { otherSideOfTransfer, type OtherSideRow } from '../queries/transfers.ts';
import type { Writer } from '../writer.ts';

/** What a person can say about a transfer, seen from one of its accounts. */
export interface TransferFields {
  readonly date: string;
  readonly notes: string;
  /** Negative when money leaves the account from which it is seen. */
  readonly amountMinor: number;
  /** The same money in the other account, with the other sign; another number where that one has another currency. */
  readonly otherMinor: number;
  /** NULL between two accounts of the budget; spending or income where one of them is off budget. */
  readonly categoryId: string | null;
}

/**
 * Both sides or neither. The category is the budget's business, so it stands on the side of the account that the budget
 * knows. Resolves to the id of this side.
 */
export async function addTransfer(
  writer: Writer,
  accountId: string,
  otherAccountId: string,
  transfer: TransferFields,
  categoryOn: 'this' | 'other' = 'this',
): Promise<string> {
  const id = newId();
  const transferId = newId();
  const { amountMinor, otherMinor, categoryId } = transfer;
  const insert = (entryId: string, account: string, minor: number, category: string | null): SqlStatement => ({
    sql: 'INSERT INTO entries (id, accountId, date, notes, categoryId, amountMinor, enteredAtMs, transferId) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    params: [entryId, account, transfer.date, transfer.notes, category, minor, Date.now(), transferId],
  });
  await writer.batch([
    insert(id, accountId, amountMinor, categoryOn === 'this' ? categoryId : null),
    insert(newId(), otherAccountId, otherMinor, categoryOn === 'other' ? categoryId : null),
  ]);
  return id;
}

/**
 * Makes an entry one side of a transfer. The other side is an entry of the other account that fits, such as the one
 * that its bank's statement has brought; else a new one. Days stay as they are on both sides. Resolves to whether there
 * was one that fits.
 */
export async function makeTransfer(
  writer: Writer,
  entryId: string,
  otherAccountId: string,
  transfer: TransferFields,
  categoryOn: 'this' | 'other' | 'none',
): Promise<boolean> {
  const { date, notes, amountMinor, otherMinor, categoryId } = transfer;
  const [found] = await writer.query<OtherSideRow>(otherSideOfTransfer, [otherAccountId, otherMinor, date, date, date]);
  const transferId = newId();
  const side = {
    sql: 'UPDATE entries SET date = ?, notes = ?, amountMinor = ?, categoryId = ?, transferId = ? WHERE id = ?',
    params: [date, notes, amountMinor, categoryOn === 'this' ? categoryId : null, transferId, entryId],
  };
  const otherSide =
    found === undefined
      ? {
          sql: 'INSERT INTO entries (id, accountId, date, notes, amountMinor, enteredAtMs, transferId) VALUES (?, ?, ?, ?, ?, ?, ?)',
          params: [newId(), otherAccountId, date, notes, otherMinor, Date.now(), transferId],
        }
      : {
          sql: `UPDATE entries SET transferId = ?${categoryOn === 'other' ? '' : ', categoryId = NULL'} WHERE id = ?`,
          params: [transferId, found.id],
        };
  await writer.batch([side, otherSide]);
  return found !== undefined;
}

/**
 * Writes what differs, to both sides in one transaction. Of two people who change one transfer at once, the later one's
 * day or amount stands on both sides: the writes of a transaction have one stamp.
 */
export async function changeTransfer(
  writer: Writer,
  side: { readonly id: string; readonly transferId: string },
  before: TransferFields,
  after: TransferFields,
): Promise<void> {
  const { id, transferId } = side;
  const statements: SqlStatement[] = [];
  if (before.date !== after.date)
    statements.push({ sql: 'UPDATE entries SET date = ? WHERE transferId = ?', params: [after.date, transferId] });
  if (before.notes !== after.notes)
    statements.push({ sql: 'UPDATE entries SET notes = ? WHERE transferId = ?', params: [after.notes, transferId] });
  if (before.categoryId !== after.categoryId)
    statements.push({ sql: 'UPDATE entries SET categoryId = ? WHERE id = ?', params: [after.categoryId, id] });
  if (before.amountMinor !== after.amountMinor || before.otherMinor !== after.otherMinor) {
    statements.push({
      sql: 'UPDATE entries SET amountMinor = CASE id WHEN ? THEN ? ELSE ? END WHERE transferId = ?',
      params: [id, after.amountMinor, after.otherMinor, transferId],
    });
  }
  if (statements.length > 0) await writer.batch(statements);
}
