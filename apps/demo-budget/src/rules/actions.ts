import type { RuleField, RuleTest } from '../schema.ts';
import type { Writer } from '../writer.ts';

export interface RuleFields {
  readonly field: RuleField;
  readonly test: RuleTest;
  /** For `amount`, minor units without a sign. */
  readonly value: string;
  readonly categoryId: string | null;
  readonly payee: string | null;
}

/** Resolves to the new rule's id. */
export async function addRule(writer: Writer, { field, test, value, categoryId, payee }: RuleFields): Promise<string> {
  const id = writer.newId();
  await writer.execute('INSERT INTO rules (id, field, test, value, categoryId, payee, createdAtMs) VALUES (?, ?, ?, ?, ?, ?, ?)', [id, field, test, value, categoryId, payee, Date.now()]);
  return id;
}

export async function deleteRule(writer: Writer, id: string): Promise<void> {
  await writer.execute('DELETE FROM rules WHERE id = ?', [id]);
}

/** Gives all entries of a payee another one. Resolves to how many there were. */
export async function renamePayee(writer: Writer, payee: string, newName: string): Promise<number> {
  const { changes } = await writer.execute('UPDATE entries SET payee = ? WHERE payee = ?', [newName, payee]);
  return changes;
}
