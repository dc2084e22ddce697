import { newId, type SqlStatement } from '@rockpool/client';
import { EntryGone } from '../entries/actions.ts';
import type { LedgerRow } from '../queries/ledger.ts';
import { hasNoOtherSide, otherSideOfTransfer, type OtherSideRow } from '../queries/transfers.ts';
import type { Writer } from '../writer.ts';

/** The user-editable fields of a transfer, seen from one of its accounts. */
export interface TransferFields {
  readonly date: string;
  readonly notes: string;
  /** Negative when money leaves the account from which it is seen. */
  readonly amountMinor: number;
  /** The amount in the other account: the negated amount, or a different one if the currencies differ. */
  readonly otherMinor: number;
  /** NULL between two on-budget accounts; a spending or income category if one of them is off budget. */
  readonly categoryId: string | null;
}

/**
 * Writes both sides in one transaction. The category is stored on the on-budget side. Resolves to the id of this side.
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

/** The first unused id of `ENTRY/other`, `ENTRY/other/2` …. Parameter: `ENTRY/other`. */
const freeOtherId = `
  WITH RECURSIVE tried (first, id, number) AS (
    SELECT other.id, other.id, 1 FROM (SELECT ? AS id) AS other
    UNION ALL
    SELECT first, first || '/' || (number + 1), number + 1 FROM tried WHERE tried.id IN (SELECT id FROM entries)
  ) SELECT id FROM tried ORDER BY number DESC LIMIT 1`;

/**
 * Turns an entry into one side of a transfer. The other side is a matching entry of the other account, for example from
 * its bank's statement, or else a new entry. Both sides keep their days. A split entry loses its parts, because their
 * categories would still count as spending. Resolves to whether a match existed.
 *
 * Writes the day and the memo only if they differ from those that the user saw (`entry`), but the amount always,
 * because the other side gets the opposite one. Rejects with `EntryGone` if the entry has since been deleted or become
 * a transfer. Ids are derived from those of the entries, so that two devices that turn the same entry into a transfer
 * create only one other side. If only one device finds a matching entry, there are two; the superfluous one then shows
 * that its other side is missing, and can be deleted.
 */
export async function makeTransfer(
  writer: Writer,
  entry: Pick<LedgerRow, 'id' | 'date' | 'notes'>,
  otherAccountId: string,
  transfer: TransferFields,
  categoryOn: 'this' | 'other' | 'none',
): Promise<boolean> {
  const { date, amountMinor, otherMinor, categoryId } = transfer;
  const [found] = await writer.query<OtherSideRow>(otherSideOfTransfer, [otherAccountId, otherMinor, date, date, date]);
  const derivedId = found === undefined ? entry.id : [entry.id, found.id].toSorted().join('+');
  // The id is taken if a former other side still has it: this entry was deleted, and has been imported again since.
  const [holder] = await writer.query('SELECT 1 FROM entries WHERE transferId = ? AND id <> ?', [derivedId, entry.id]);
  const transferId = holder === undefined ? derivedId : newId();
  const changed = (['date', 'notes'] as const).filter((column) => entry[column] !== transfer[column]);
  const side = {
    sql: `UPDATE entries SET ${changed.map((column) => `${column} = ?, `).join('')}amountMinor = ?, categoryId = ?, transferId = ?
     WHERE id = ? AND ${hasNoOtherSide}`,
    params: [
      ...changed.map((column) => transfer[column]),
      amountMinor,
      categoryOn === 'this' ? categoryId : null,
      transferId,
      entry.id,
    ],
  };
  const joined = {
    sql: `UPDATE entries SET transferId = ?${categoryOn === 'other' ? '' : ', categoryId = NULL'}
     WHERE id = ? AND ${hasNoOtherSide} AND EXISTS (SELECT 1 FROM entries AS side WHERE side.id = ? AND side.transferId = ?)`,
    params: [transferId, found?.id ?? null, entry.id, transferId],
  };
  const added = {
    sql: `INSERT INTO entries (id, accountId, date, notes, amountMinor, enteredAtMs, transferId)
     SELECT (${freeOtherId}), ?, date, notes, ?, ?, transferId
     FROM entries WHERE id = ? AND transferId = ? AND 1 = (SELECT count(*) FROM entries WHERE transferId = ?)`,
    params: [`${entry.id}/other`, otherAccountId, otherMinor, Date.now(), entry.id, transferId, transferId],
  };
  const [written] = await writer.batch([side, joined, added, withoutParts(transferId)]);
  if (written?.changes === 0) throw new EntryGone('The entry was deleted or became a transfer');
  return found !== undefined;
}

/**
 * Writes the differences to both sides in one transaction. If two people change one transfer at once, both sides get
 * the later day or amount, because the writes of a transaction have one stamp. Deletes parts of a side, which another
 * device may have added while this one made the transfer. Rejects with `EntryGone`.
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
  if (statements.length === 0) return;
  const results = await writer.batch([...statements, withoutParts(transferId)]);
  if (results.every(({ changes }) => changes === 0)) throw new EntryGone('The transfer was deleted');
}

function withoutParts(transferId: string): SqlStatement {
  return {
    sql: 'DELETE FROM parts WHERE entryId IN (SELECT id FROM entries WHERE transferId = ?)',
    params: [transferId],
  };
}
