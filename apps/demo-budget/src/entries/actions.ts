import { newId, type SqlStatement } from '@rockpool/client';
import type { PartRow } from '../queries/ledger.ts';
import { lacksCategory } from '../queries/payees.ts';
import { hasNoOtherSide } from '../queries/transfers.ts';
import type { EntryStatus } from '../schema.ts';
import { partChanges, type PartFields } from '../splits/part-changes.ts';
import type { Writer } from '../writer.ts';

/** The user-editable fields of an entry. */
export interface EntryFields {
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  /** NULL also if the entry is split: its parts then have the categories. */
  readonly categoryId: string | null;
  readonly amountMinor: number;
}

/** Resolves to the new entry's id. */
export async function addEntry(
  writer: Writer,
  accountId: string,
  entry: EntryFields,
  parts: readonly PartFields[] = [],
  status: EntryStatus = 'open',
): Promise<string> {
  const id = newId();
  await writer.batch([
    {
      sql: 'INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      params: [
        id,
        accountId,
        entry.date,
        entry.payee,
        entry.notes,
        entry.categoryId,
        entry.amountMinor,
        Date.now(),
        status,
      ],
    },
    ...partChanges(id, [], parts),
  ]);
  return id;
}

/** An entry with its parts; unsplit entries have none. */
export interface DividedEntry {
  readonly fields: EntryFields;
  readonly parts: readonly PartRow[];
  /** A side of a transfer without its other side. Default false. */
  readonly lacksOtherSide?: boolean;
}

/**
 * The entry or its changed parts were deleted, or it became a transfer, after its form had opened. Nothing was written.
 */
export class EntryGone extends Error {}

const editableColumns = ['date', 'payee', 'notes', 'categoryId', 'amountMinor'] as const;

/**
 * Writes only the columns and parts that differ. Cells merge one by one, so unchanged cells must not overwrite another
 * device's edits. A side of a transfer without its other side becomes an ordinary entry. Rejects with `EntryGone`.
 */
export async function changeEntry(
  writer: Writer,
  id: string,
  before: DividedEntry,
  after: EntryFields,
  parts: readonly PartFields[] = [],
): Promise<void> {
  const columns = editableColumns.filter((column) => before.fields[column] !== after[column]);
  const statements: SqlStatement[] = [
    ...(before.lacksOtherSide === true ? ordinary(id) : []),
    ...partChanges(id, before.parts, parts),
  ];
  if (columns.length > 0) {
    statements.push({
      sql: `UPDATE entries SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
      params: [...columns.map((column) => after[column]), id],
    });
  }
  if (statements.length === 0) return;
  try {
    const results = await writer.batch(statements);
    if (results.some(({ changes }) => changes > 0)) return;
  } catch (error) {
    // An added part refers to its entry.
    if (await isThere(writer, id)) throw error;
  }
  throw new EntryGone('The entry was deleted');
}

async function isThere(writer: Writer, id: string): Promise<boolean> {
  return (await writer.query('SELECT 1 FROM entries WHERE id = ?', [id])).length > 0;
}

/** The parts of a transfer do not count, so they must not reappear. */
function ordinary(id: string): readonly SqlStatement[] {
  return [
    {
      sql: `DELETE FROM parts WHERE entryId IN (SELECT id FROM entries WHERE id = ? AND ${hasNoOtherSide})`,
      params: [id],
    },
    { sql: `UPDATE entries SET transferId = NULL WHERE id = ? AND ${hasNoOtherSide}`, params: [id] },
  ];
}

// The statements below take ids as one JSON array, so that any number of entries needs one statement. `changeMany` runs
// them over a selection.
const among = 'id IN (SELECT value FROM json_each(?))';

/** Assigns a category. Split entries keep the categories of their parts, and transfers within the budget have none. */
export function categoryOf(ids: readonly string[], categoryId: string | null): SqlStatement {
  return {
    sql: `UPDATE entries SET categoryId = ?
     WHERE ${among} AND categoryId IS NOT ? AND CASE WHEN transferId IS NULL THEN NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id) ELSE categoryId IS NOT NULL END
       AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = entries.accountId AND kind = 'off-budget')`,
    params: [categoryId, JSON.stringify(ids), categoryId],
  };
}

export function payeeOf(ids: readonly string[], payee: string): SqlStatement {
  return {
    sql: `UPDATE entries SET payee = ? WHERE ${among} AND payee <> ? AND transferId IS NULL`,
    params: [payee, JSON.stringify(ids), payee],
  };
}

/**
 * Moves entries to another account of the same currency, for example after importing a statement into the wrong
 * account. Transfers stay, because their other side names the account. Reconciled entries stay, because they belong to
 * that account's statement. Off-budget entries lose their categories.
 */
export function accountOf(ids: readonly string[], accountId: string): SqlStatement {
  return {
    sql: `UPDATE entries SET accountId = ?, categoryId = CASE WHEN (SELECT kind FROM accounts WHERE id = ?) = 'off-budget' THEN NULL ELSE categoryId END
     WHERE ${among} AND accountId <> ? AND transferId IS NULL AND status <> 'reconciled'
       AND (SELECT currency FROM accounts WHERE id = entries.accountId) = (SELECT currency FROM accounts WHERE id = ?)`,
    params: [accountId, accountId, JSON.stringify(ids), accountId, accountId],
  };
}

/** Switches between open and cleared; reconciled entries stay reconciled. */
export function clearedOf(ids: readonly string[], cleared: boolean): SqlStatement {
  const status: EntryStatus = cleared ? 'cleared' : 'open';
  return {
    sql: `UPDATE entries SET status = ? WHERE ${among} AND status NOT IN (?, 'reconciled')`,
    params: [status, JSON.stringify(ids), status],
  };
}

/**
 * Deletes entries with their parts, and both sides of transfers, and lists them as deleted. Entries reconciled on
 * either side stay: the user unlocks them one by one. The number of deleted entries includes the other sides.
 */
export function deletionOf(ids: readonly string[]): readonly [SqlStatement, SqlStatement] {
  const chosen = JSON.stringify(ids);
  const deleted = `
     WHERE (${among} OR transferId IN (SELECT transferId FROM entries WHERE ${among}))
       AND status <> 'reconciled' AND coalesce(transferId, '') NOT IN (SELECT transferId FROM entries WHERE transferId IS NOT NULL AND status = 'reconciled')`;
  return [
    {
      sql: `INSERT INTO deletedEntries (id, accountId, date, payee, notes, amountMinor, transferId, deletedAtMs)
     SELECT id, accountId, date, payee, notes, amountMinor, transferId, ? FROM entries ${deleted}
     ON CONFLICT (id) DO UPDATE SET accountId = excluded.accountId, date = excluded.date, payee = excluded.payee, notes = excluded.notes,
       amountMinor = excluded.amountMinor, transferId = excluded.transferId, deletedAtMs = excluded.deletedAtMs`,
      params: [Date.now(), chosen, chosen],
    },
    { sql: `DELETE FROM entries ${deleted}`, params: [chosen, chosen] },
  ];
}

// Each of the functions below resolves to the number of entries changed.

export async function setCategory(writer: Writer, ids: readonly string[], categoryId: string | null): Promise<number> {
  return (await writer.execute(categoryOf(ids, categoryId))).changes;
}

export async function setCleared(writer: Writer, ids: readonly string[], cleared: boolean): Promise<number> {
  return (await writer.execute(clearedOf(ids, cleared))).changes;
}

export async function deleteEntries(writer: Writer, ids: readonly string[]): Promise<number> {
  return (await writer.batch(deletionOf(ids))).at(-1)?.changes ?? 0;
}

/** Unlocks a reconciled entry, or the reconciled side of a transfer; it stays cleared. */
export async function unlock(writer: Writer, id: string): Promise<void> {
  await writer.execute(
    "UPDATE entries SET status = 'cleared' WHERE status = 'reconciled' AND (id = ? OR transferId = (SELECT transferId FROM entries WHERE id = ?))",
    [id, id],
  );
}

/**
 * Assigns a category to all uncategorised entries of a payee. Off-budget entries have none. Resolves to the number
 * changed.
 */
export async function categorisePayee(writer: Writer, payee: string, categoryId: string): Promise<number> {
  const { changes } = await writer.execute(`UPDATE entries SET categoryId = ? WHERE payee = ? AND ${lacksCategory}`, [
    categoryId,
    payee,
  ]);
  return changes;
}
