import { newId } from '@rockpool/client';
import type { CategoryKind } from '../schema.ts';
import type { Writer } from '../writer.ts';

/** Resolves to the new category's id. */
export async function addCategory(writer: Writer, name: string, kind: CategoryKind): Promise<string> {
  const id = newId();
  await writer.execute('INSERT INTO categories (id, name, kind) VALUES (?, ?, ?)', [id, name, kind]);
  return id;
}

export async function renameCategory(writer: Writer, id: string, name: string): Promise<void> {
  await writer.execute('UPDATE categories SET name = ? WHERE id = ?', [name, id]);
}

/** A hidden category stays on its entries and is not offered for others. */
export async function setCategoryHidden(writer: Writer, id: string, hidden: boolean): Promise<void> {
  await writer.execute('UPDATE categories SET hidden = ? WHERE id = ?', [hidden ? 1 : 0, id]);
}

/**
 * Sets, for all months, whether overspending stays in the envelope or is covered from unassigned money when the month
 * ends.
 */
export async function setKeepsOverspent(writer: Writer, id: string, keeps: boolean): Promise<void> {
  await writer.execute('UPDATE categories SET keepsOverspent = ? WHERE id = ?', [keeps ? 1 : 0, id]);
}
