import type { Writer } from '../writer.ts';

/** What a person can say about an entry. */
export interface EntryFields {
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
}

/** Resolves to the new entry's id. */
export async function addEntry(writer: Writer, accountId: string, entry: EntryFields): Promise<string> {
  const id = writer.newId();
  await writer.execute(
    'INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    [id, accountId, entry.date, entry.payee, entry.notes, entry.categoryId, entry.amountMinor, Date.now()],
  );
  return id;
}

const editableColumns = ['date', 'payee', 'notes', 'categoryId', 'amountMinor'] as const;

/**
 * Writes only the columns that differ. Another device may have changed the others meanwhile: cells merge one by one, and a cell that
 * nobody meant to change must not be written over.
 */
export async function changeEntry(writer: Writer, id: string, before: EntryFields, after: EntryFields): Promise<void> {
  const changed = editableColumns.filter((column) => before[column] !== after[column]);
  if (changed.length === 0) return;
  const assignments = changed.map((column) => `${column} = ?`).join(', ');
  await writer.execute(`UPDATE entries SET ${assignments} WHERE id = ?`, [...changed.map((column) => after[column]), id]);
}

export async function setCategory(writer: Writer, id: string, categoryId: string | null): Promise<void> {
  await writer.execute('UPDATE entries SET categoryId = ? WHERE id = ?', [categoryId, id]);
}

/** Gives a category to all entries of a payee that have none. Resolves to how many there were. */
export async function categorisePayee(writer: Writer, payee: string, categoryId: string): Promise<number> {
  const { changes } = await writer.execute('UPDATE entries SET categoryId = ? WHERE payee = ? AND categoryId IS NULL', [categoryId, payee]);
  return changes;
}

/** A deleted entry with all that is needed to put it back as it was. */
export interface DeletedEntry extends EntryFields {
  readonly id: string;
  readonly accountId: string;
  readonly enteredAtMs: number;
  readonly importKey: string | null;
}

/** Resolves to what was deleted, so that it can be undone; undefined where another tab or device was faster. */
export async function deleteEntry(writer: Writer, id: string): Promise<DeletedEntry | undefined> {
  const [deleted] = await writer.query<DeletedEntry>(
    'SELECT id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs, importKey FROM entries WHERE id = ?',
    [id],
  );
  await writer.execute('DELETE FROM entries WHERE id = ?', [id]);
  return deleted;
}

export async function undoDelete(writer: Writer, entry: DeletedEntry): Promise<void> {
  await writer.execute(
    `INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs, importKey)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    [entry.id, entry.accountId, entry.date, entry.payee, entry.notes, entry.categoryId, entry.amountMinor, entry.enteredAtMs, entry.importKey],
  );
}
