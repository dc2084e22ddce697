import { list, object, oneOf, texts } from './read-json.ts';
import type { ForeignKeyRule, ForeignKeyRuleDeclaration, ForeignKeySchema, TableSchema } from './schema.ts';

/**
 * The rule that the table declares, or else the one that follows from `ON DELETE`. `SET NULL` is `set-null` if the
 * foreign key can be NULL by itself: each of its columns is nullable, stored, outside the primary key, and in no other
 * foreign key.
 */
export function foreignKeyRule(table: TableSchema, key: ForeignKeySchema): ForeignKeyRule {
  const declared = table.merge.foreignKeyRules?.find(({ columns }) => sameColumns(columns, key.columns));
  if (declared !== undefined) return declared.rule;
  if (key.onDelete === 'cascade') return 'cascade';
  return key.onDelete === 'set null' && canBeNull(table, key) ? 'set-null' : 'reject';
}

function sameColumns(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

function canBeNull({ columns, primaryKey, foreignKeys }: TableSchema, key: ForeignKeySchema): boolean {
  return key.columns.every((name) => {
    const column = columns.find((candidate) => candidate.name === name);
    return (
      column !== undefined &&
      !column.notNull &&
      column.generated === null &&
      !primaryKey.includes(name) &&
      foreignKeys.every((other) => other === key || !other.columns.includes(name))
    );
  });
}

/** Returns what the schema's hash includes for these rules; empty if a table declares none. */
export function foreignKeyRulesIdentity(rules: readonly ForeignKeyRuleDeclaration[] = []): unknown[] {
  return rules.length === 0 ? [] : [rules.map(({ columns, rule }) => JSON.stringify([columns, rule])).sort()];
}

const RULES: readonly string[] = ['reject', 'cascade', 'set-null', 'restore-parent'] satisfies ForeignKeyRule[];

/** Reads the rules of a schema file, trusting nothing. Throws `schema-invalid`. */
export function readForeignKeyRules(value: unknown): ForeignKeyRuleDeclaration[] {
  return list(value, 'foreignKeyRules').map((entry) => {
    const declaration = object(entry, 'a foreign key rule');
    return {
      columns: texts(declaration['columns'], 'the columns of a foreign key rule'),
      rule: oneOf(declaration['rule'], RULES, 'the rule of a foreign key') as ForeignKeyRule,
    };
  });
}

export function reportForeignKeyRules(
  table: TableSchema,
  tables: ReadonlyMap<string, TableSchema>,
  report: (column: string | null, problem: string) => void,
): void {
  const named = new Set<ForeignKeySchema>();
  for (const { columns, rule } of table.merge.foreignKeyRules ?? []) {
    const keys = table.foreignKeys.filter((key) => sameColumns(columns, key.columns));
    const [key] = keys;
    const name = columns[0] ?? null;
    if (key === undefined || keys.length > 1 || named.has(key))
      report(name, 'A foreign key rule must name each column of one foreign key once.');
    else if (!fits(table, key, rule, tables.get(key.foreignTable.toLowerCase())))
      report(name, `The rule ${rule} needs ${NEEDS[rule]}.`);
    if (key !== undefined) named.add(key);
  }
}

const NEEDS: Readonly<Record<ForeignKeyRule, string>> = {
  reject: '',
  cascade: 'ON DELETE CASCADE',
  'set-null': 'ON DELETE SET NULL, and nullable, stored columns that are in no other key',
  'restore-parent':
    'ON DELETE CASCADE, RESTRICT or NO ACTION, and a foreign key to the primary key of a table with the deleteRule update-wins',
};

function fits(
  table: TableSchema,
  key: ForeignKeySchema,
  rule: ForeignKeyRule,
  parent: TableSchema | undefined,
): boolean {
  const action = key.onDelete.replace(' ', '-');
  if (rule === 'cascade') return action === rule;
  if (rule === 'set-null') return action === rule && canBeNull(table, key);
  return (
    rule === 'reject' ||
    parent === undefined ||
    (!action.startsWith('set-') &&
      parent.merge.deleteRule === 'update-wins' &&
      sameColumns(parent.primaryKey, key.foreignColumns))
  );
}
