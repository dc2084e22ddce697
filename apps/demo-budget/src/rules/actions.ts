import { newId, type SqlStatement } from '@rockpool/client';
import type { RuleRow } from '../queries/rules.ts';
import type { Writer } from '../writer.ts';
import type { Rule } from './rule.ts';

type RuleColumns = Omit<RuleRow, 'id'>;

/**
 * Also applies the rule to existing entries, given by id. One transaction, so one undo reverts both. Resolves to the
 * new rule's id.
 */
export async function addRule(writer: Writer, rule: Rule, entryIds: readonly string[] = []): Promise<string> {
  const id = newId();
  const columns = columnsOf(rule);
  await writer.batch([
    {
      sql: 'INSERT INTO rules (id, field, test, value, moreConditions, needs, categoryId, payee, notes, createdAtMs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      params: [
        id,
        columns.field,
        columns.test,
        columns.value,
        columns.moreConditions,
        columns.needs,
        columns.categoryId,
        columns.payee,
        columns.notes,
        Date.now(),
      ],
    },
    ...giveToEntries(rule, entryIds),
  ]);
  return id;
}

/** Writes the differences, and applies the rule to entries as `addRule` does. */
export async function changeRule(
  writer: Writer,
  before: RuleRow,
  rule: Rule,
  entryIds: readonly string[] = [],
): Promise<void> {
  const after = columnsOf(rule);
  const changed = (Object.keys(after) as (keyof RuleColumns)[]).filter((column) => before[column] !== after[column]);
  const update = {
    sql: `UPDATE rules SET ${changed.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
    params: [...changed.map((column) => after[column]), before.id],
  };
  const statements = [...(changed.length === 0 ? [] : [update]), ...giveToEntries(rule, entryIds)];
  if (statements.length > 0) await writer.batch(statements);
}

export async function deleteRule(writer: Writer, id: string): Promise<void> {
  await writer.execute('DELETE FROM rules WHERE id = ?', [id]);
}

/** Renames a payee in all its entries. Resolves to the number of entries. */
export async function renamePayee(writer: Writer, payee: string, newName: string): Promise<number> {
  const { changes } = await writer.execute('UPDATE entries SET payee = ? WHERE payee = ?', [newName, payee]);
  return changes;
}

function columnsOf({ needs, conditions, categoryId, payee, notes }: Rule): RuleColumns {
  const [first, ...more] = conditions;
  if (first === undefined) throw new TypeError('A rule needs at least one condition');
  return { ...first, moreConditions: JSON.stringify(more), needs, categoryId, payee, notes };
}

/** Split entries keep the categories of their parts; off-budget entries have none. */
function giveToEntries({ categoryId, payee, notes }: Rule, entryIds: readonly string[]): SqlStatement[] {
  if (entryIds.length === 0) return [];
  const ids = JSON.stringify(entryIds);
  const among = 'id IN (SELECT value FROM json_each(?))';
  const statements: SqlStatement[] = [];
  if (categoryId !== null) {
    statements.push({
      sql: `UPDATE entries SET categoryId = ?
            WHERE ${among} AND categoryId IS NOT ? AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id) AND accountId NOT IN (SELECT id FROM accounts WHERE kind = 'off-budget')`,
      params: [categoryId, ids, categoryId],
    });
  }
  if (payee !== null)
    statements.push({ sql: `UPDATE entries SET payee = ? WHERE ${among} AND payee <> ?`, params: [payee, ids, payee] });
  if (notes !== null)
    statements.push({ sql: `UPDATE entries SET notes = ? WHERE ${among} AND notes <> ?`, params: [notes, ids, notes] });
  return statements;
}
