import type { ConflictValue, MergeRule } from '../queries/conflicts.ts';
import { repetitionWords } from '../schedules/repetition-words.ts';
import type { RuleRow } from '../queries/rules.ts';
import { readRule } from '../rules/rule.ts';
import { conditionsSentence } from '../rules/rule-words.ts';
import type { ScheduleUnit } from '../schema.ts';
import { formatDay, formatMonthInFull } from '../shell/locale.ts';
import { columnWords, valueWord, type Wording } from '../words/row-words.ts';
import { currentRowOf, groupOf, type Conflict } from './conflicts.ts';

type Side = 'lostValue' | 'wonValue';
type Values = Readonly<Record<string, ConflictValue | undefined>>;

/** The names of column groups, by table. */
const groupWords: Readonly<Record<string, string>> = {
  goals: 'Goal',
  rules: 'Condition',
  schedules: 'Repeats',
  importProfiles: 'Import settings',
};

/** The field that lost, as the app names it: `Amount`, `Goal`. */
export function lossWords({ first, losses }: Conflict): string {
  if (first.columnName === null) return 'Everything';
  if (groupOf(first) !== undefined) return groupWords[first.tableName] ?? first.tableName;
  return losses.map(({ columnName }) => columnWords[columnName ?? ''] ?? columnName).join(', ');
}

/** The lost or the current value, formatted as in the app: `€42.10`, `€400.00 each month`. */
export function valueWords(conflict: Conflict, side: Side, wording: Wording): string {
  const { first, losses } = conflict;
  const group = groupOf(first);
  if (group !== undefined) {
    // A value that both authors wrote is not in the conflict log, so it is read from the row.
    const lost = Object.fromEntries(losses.map((loss) => [loss.columnName, loss[side]]));
    const values: Values = { ...currentRowOf(first), ...lost };
    if (group.every((column) => values[column] !== undefined))
      return groupSentence(first.tableName, values, first.currency, wording);
  }
  return losses.map((loss) => valueWord(loss.columnName, loss[side], first.currency, wording)).join(', ');
}

function groupSentence(tableName: string, values: Values, currency: string | null, wording: Wording): string {
  const word = (column: string): string => valueWord(column, values[column] ?? null, currency, wording);
  switch (tableName) {
    case 'goals':
      if (values['kind'] === 'up-to') return `refill to ${word('amountMinor')}`;
      return `${word('amountMinor')} ${values['byMonth'] === null ? 'each month' : `by ${formatMonthInFull(String(values['byMonth']))}`}`;
    case 'rules':
      return conditionWords(values, wording);
    case 'schedules':
      return `${repetitionWords({ every: Number(values['every']), unit: values['unit'] as ScheduleUnit })} from ${formatDay(String(values['firstDate']))} on`;
    default:
      return 'other settings';
  }
}

function conditionWords(values: Values, { accountNames, currency }: Wording): string {
  const rule = readRule({
    categoryId: null,
    payee: null,
    notes: null,
    status: null,
    split: '[]',
    ...values,
  } as unknown as RuleRow);
  return rule === undefined
    ? 'other conditions'
    : conditionsSentence(rule, { currency, account: (id) => accountNames.get(id) ?? 'an account' });
}

/** Why one value won over the other. */
export const ruleWords: Readonly<Record<MergeRule, string>> = {
  lww: 'Both changed it before they synced; the later change won.',
  'one-insert-wins': 'Both added it; one of the two was kept as a whole.',
  'delete-wins': 'It was deleted before the change arrived, and deletes win.',
  cascade: 'The item it belonged to was deleted.',
  'update-wins': 'It was changed in the meantime, and changes win over deletes.',
};
