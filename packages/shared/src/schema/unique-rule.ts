import { quoteName } from './ddl.ts';
import { invalid, object, text } from './read-json.ts';
import type { ForeignKeySchema, RenameRule, TableSchema, UniqueRule } from './schema.ts';

export const DEFAULT_RENAME_SUFFIX = ' ({n})';

/** The maximum number of renamed rows with one name; the next one rejects its changeset. */
export const MAX_RENAMES = 100;

const NUMBER = '{n}';

export function renamed(value: string, { suffix }: RenameRule, n: number): string {
  return value + suffix.replace(NUMBER, String(n));
}

/** Returns what the schema's hash includes for the rule. */
export function uniqueRuleIdentity(rule: UniqueRule = 'reject'): unknown {
  return rule === 'reject' ? rule : [rule.rename, rule.suffix];
}

/** Reads a rule of a schema file, trusting nothing. Throws `schema-invalid`. */
export function readUniqueRule(value: unknown): UniqueRule {
  if (value === 'reject') return value;
  if (typeof value === 'string') return invalid('uniqueRule is unknown');
  const rule = object(value, 'uniqueRule');
  return { rename: text(rule['rename'], 'the column to rename'), suffix: text(rule['suffix'], 'the suffix') };
}

/** `foreignKeys` are the foreign keys of all tables. */
export function reportUniqueRule(
  table: TableSchema,
  foreignKeys: readonly ForeignKeySchema[],
  report: (column: string | null, problem: string) => void,
): void {
  const { uniqueRule = 'reject', counters, groups, documents } = table.merge;
  if (uniqueRule === 'reject') return;
  const { rename: name, suffix } = uniqueRule;
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column === undefined) return report(name, 'The unique rule names a column that the table does not have.');
  const isUnique =
    table.uniques.some((columns) => columns.includes(name)) ||
    table.indexes.some(
      ({ unique, expressions }) => unique && (expressions.includes(name) || expressions.includes(quoteName(name))),
    );
  const hasRule = [...counters, ...groups.flat(), ...documents.map((rule) => rule.column)].includes(name);
  const isStored = column.generated === null && !table.primaryKey.includes(name);
  if (column.type !== 'text' || !isStored || !isUnique || hasRule)
    report(name, 'The column to rename must be stored, TEXT, UNIQUE, outside the key and without a merge rule.');
  if (
    foreignKeys.some(({ foreignTable, foreignColumns }) => foreignTable === table.name && foreignColumns.includes(name))
  )
    report(name, 'A foreign key refers to this column: after a rename it would refer to the other row.');
  if (suffix.split(NUMBER).length !== 2) report(name, `The suffix of a rename must contain ${NUMBER} once.`);
}
