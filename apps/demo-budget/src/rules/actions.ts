import { newId, type SqlStatement } from '@rockpool/client';
import type { RuleRow } from '../queries/rules.ts';
import type { Writer } from '../writer.ts';
import { boundariesOf, shareSql, type RulePart } from './rule-split.ts';
import type { Rule } from './rule.ts';

type RuleColumns = Omit<RuleRow, 'id'>;

/**
 * Also applies the rule to existing entries, given by id. One transaction, so one undo reverts both. Resolves to the
 * new rule's id.
 */
export async function addRule(writer: Writer, rule: Rule, entryIds: readonly string[] = []): Promise<string> {
  const id = newId();
  await writer.batch([insertion(id, columnsOf(rule)), ...giveToEntries(rule, entryIds)]);
  return id;
}

function insertion(id: string, columns: RuleColumns): SqlStatement {
  const names = Object.keys(columns) as (keyof RuleColumns)[];
  return {
    sql: `INSERT INTO rules (id, createdAtMs, ${names.join(', ')}) VALUES (?, ?${', ?'.repeat(names.length)})`,
    params: [id, Date.now(), ...names.map((name) => columns[name])],
  };
}

/**
 * Writes the differences, and applies the rule to entries as `addRule` does. A rule that was deleted since its form was
 * opened is added again.
 */
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
  const isThere = (await writer.query('SELECT 1 FROM rules WHERE id = ?', [before.id])).length > 0;
  const own = !isThere ? [insertion(before.id, after)] : changed.length > 0 ? [update] : [];
  const statements = [...own, ...giveToEntries(rule, entryIds)];
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

function columnsOf({ needs, conditions, categoryId, payee, notes, status, split }: Rule): RuleColumns {
  const [first, ...more] = conditions;
  if (first === undefined) throw new TypeError('A rule needs at least one condition');
  return {
    ...first,
    moreConditions: JSON.stringify(more),
    needs,
    categoryId,
    payee,
    notes,
    status,
    split: JSON.stringify(split),
  };
}

/**
 * Split entries keep their parts; off-budget entries have no category and no parts. Reconciled entries stay reconciled.
 * Entries that became transfers since they were found stay as they are.
 */
function giveToEntries({ categoryId, payee, notes, status, split }: Rule, entryIds: readonly string[]): SqlStatement[] {
  if (entryIds.length === 0) return [];
  const ids = JSON.stringify(entryIds);
  const among = 'id IN (SELECT value FROM json_each(?)) AND transferId IS NULL';
  const statements: SqlStatement[] = [];
  if (categoryId !== null) {
    statements.push({
      sql: `UPDATE entries SET categoryId = ?
            WHERE ${among} AND categoryId IS NOT ? AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id) AND accountId NOT IN (SELECT id FROM accounts WHERE kind = 'off-budget')`,
      params: [categoryId, ids, categoryId],
    });
  }
  if (split.length > 0) statements.push(...splitEntries(split, ids));
  if (status !== null)
    statements.push({
      sql: `UPDATE entries SET status = ? WHERE ${among} AND status <> ? AND status <> 'reconciled'`,
      params: [status, ids, status],
    });
  if (payee !== null)
    statements.push({ sql: `UPDATE entries SET payee = ? WHERE ${among} AND payee <> ?`, params: [payee, ids, payee] });
  if (notes !== null)
    statements.push({ sql: `UPDATE entries SET notes = ? WHERE ${among} AND notes <> ?`, params: [notes, ids, notes] });
  return statements;
}

/**
 * Splits all entries with one statement, whatever their number. The ids of the parts are numbered, as those of a split
 * by hand are.
 *
 * @param ids JSON: the ids of the entries
 */
function splitEntries(split: readonly RulePart[], ids: string): SqlStatement[] {
  const boundaries = boundariesOf(split);
  const parts = split.map(({ categoryId }, index) => ({
    categoryId,
    from: boundaries[index - 1] ?? 0,
    to: boundaries[index],
  }));
  const among = 'entries.id IN (SELECT value FROM json_each(?))';
  return [
    {
      sql: `INSERT INTO parts (id, entryId, categoryId, amountMinor, notes)
            SELECT entries.id || '/' || (part.key + 1), entries.id, part.value ->> 'categoryId',
                   ${shareSql('entries.amountMinor', "(part.value ->> 'to')")} - ${shareSql('entries.amountMinor', "(part.value ->> 'from')")}, ''
            FROM entries, json_each(?) AS part
            WHERE ${among} AND entries.transferId IS NULL AND entries.accountId NOT IN (SELECT id FROM accounts WHERE kind = 'off-budget')
              AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id)`,
      params: [JSON.stringify(parts), ids],
    },
    {
      sql: `UPDATE entries SET categoryId = NULL
            WHERE ${among} AND categoryId IS NOT NULL AND EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id)`,
      params: [ids],
    },
  ];
}
