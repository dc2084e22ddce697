import { newId, type SqlStatement } from '@rockpool/client';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import type { CategoryKind } from '../schema.ts';
import { nameKey } from '../words/name-key.ts';
import type { Writer } from '../writer.ts';

/** Another category has the name. Nothing was written. */
export class NameTaken extends Error {}

/**
 * Rejects with `NameTaken` if a category other than `id` has the name, whatever its case. Two devices may still give
 * two categories one name, and a user then renames one of them.
 */
export async function requireFreeName(writer: Pick<Writer, 'query'>, name: string, id?: string): Promise<void> {
  const key = nameKey(name);
  const categories = await writer.query<CategoryRow>(categoriesByName);
  if (categories.some((category) => category.id !== id && nameKey(category.name) === key))
    throw new NameTaken('Another category has this name');
}

/** Resolves to the new category's id. */
export async function addCategory(
  writer: Writer,
  name: string,
  kind: CategoryKind,
  groupName: string = '',
): Promise<string> {
  const id = newId();
  await writer.execute('INSERT INTO categories (id, name, kind, groupName) VALUES (?, ?, ?, ?)', [
    id,
    name,
    kind,
    groupName,
  ]);
  return id;
}

/** Rejects with `NameTaken`. */
export async function renameCategory(writer: Writer, id: string, name: string): Promise<void> {
  await requireFreeName(writer, name, id);
  await writer.execute('UPDATE categories SET name = ? WHERE id = ?', [name, id]);
}

/** A hidden category stays on its entries and is not offered for others. */
export async function setCategoryHidden(writer: Writer, id: string, hidden: boolean): Promise<void> {
  await writer.execute('UPDATE categories SET hidden = ? WHERE id = ?', [hidden ? 1 : 0, id]);
}

/**
 * Sets, for all months, whether overspending stays in the envelope, or is covered from unassigned money when the month
 * ends.
 */
export async function setKeepsOverspent(writer: Writer, id: string, keeps: boolean): Promise<void> {
  await writer.execute('UPDATE categories SET keepsOverspent = ? WHERE id = ?', [keeps ? 1 : 0, id]);
}

export async function setCategoryNote(writer: Writer, id: string, note: string): Promise<void> {
  await writer.execute('UPDATE categories SET note = ? WHERE id = ?', [note, id]);
}

/** Far enough apart that a category can often be placed between two others. */
const gap = 1_024;

/**
 * Moves a category to a group, before another category or to the end.
 *
 * @param ordered the categories of its kind, in their order
 */
export async function placeCategory(
  writer: Writer,
  ordered: readonly Pick<CategoryRow, 'id' | 'groupName' | 'position'>[],
  id: string,
  { groupName, beforeId }: { readonly groupName: string; readonly beforeId: string | null },
): Promise<void> {
  const others = ordered.filter((category) => category.id !== id);
  const groupEnd = others.findLastIndex((category) => category.groupName === groupName) + 1;
  const found = beforeId === null ? -1 : others.findIndex((category) => category.id === beforeId);
  const at = found === -1 ? (groupEnd === 0 ? others.length : groupEnd) : found;
  const before = others[at - 1]?.position;
  const after = others[at]?.position;
  const between =
    before === undefined ? (after ?? gap) - gap : after === undefined ? before + gap : (before + after) / 2;
  const fits = (before === undefined || before < between) && (after === undefined || between < after);
  // The categories of an older budget share one position, so the first move gives each its own.
  const statements: SqlStatement[] = fits
    ? [{ sql: 'UPDATE categories SET position = ? WHERE id = ?', params: [between, id] }]
    : [
        ...others.slice(0, at).map((category) => category.id),
        id,
        ...others.slice(at).map((category) => category.id),
      ].map((categoryId, index) => ({
        sql: 'UPDATE categories SET position = ? WHERE id = ?',
        params: [(index + 1) * gap, categoryId],
      }));
  await writer.batch([
    ...statements,
    { sql: 'UPDATE categories SET groupName = ? WHERE id = ? AND groupName <> ?', params: [groupName, id, groupName] },
  ]);
}

export async function renameGroup(writer: Writer, from: string, to: string): Promise<void> {
  await writer.execute('UPDATE categories SET groupName = ? WHERE groupName = ?', [to, from]);
}

/**
 * Deletes a category and moves everything in it to another one; null leaves entries without a category and returns
 * assigned money. One transaction, so that one undo restores it all.
 */
export async function deleteCategory(writer: Writer, id: string, toId: string | null): Promise<void> {
  const moved = ['entries', 'parts', 'rules', 'schedules'].map((table) => ({
    sql: `UPDATE ${table} SET categoryId = ? WHERE categoryId = ?`,
    params: [toId, id],
  }));
  await writer.batch([
    ...moved,
    {
      sql: 'UPDATE rules SET split = replace(split, ?, ?) WHERE instr(split, ?) > 0',
      params: [JSON.stringify(id), JSON.stringify(toId), JSON.stringify(id)],
    },
    toId === null
      ? { sql: 'DELETE FROM assignments WHERE categoryId = ?', params: [id] }
      : { sql: 'UPDATE assignments SET categoryId = ? WHERE categoryId = ?', params: [toId, id] },
    { sql: 'DELETE FROM goals WHERE categoryId = ?', params: [id] },
    { sql: 'UPDATE categories SET deleted = 1 WHERE id = ?', params: [id] },
  ]);
}
