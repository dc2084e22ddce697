import type { TableSchema } from '../../schema/schema.ts';
import { tablePolicies, type ColumnPolicy, type PolicyDeclaration, type TablePolicies } from '../column-policy.ts';
import { counter, counterDeclaration } from './counter.ts';
import { document, documentColumns, documentDeclaration } from './document.ts';
import { group, groupDeclaration } from './group.ts';
import { lastWriter } from './last-writer.ts';

/*
 * All policies. A new policy needs a file in this folder, a line in both lists below, and a key in MergeRules
 * (schema/schema.ts).
 */

/** The declarations, in the order in which the schema's hash includes them. */
export const POLICY_DECLARATIONS: readonly PolicyDeclaration[] = [
  counterDeclaration as PolicyDeclaration,
  groupDeclaration as PolicyDeclaration,
  documentDeclaration as PolicyDeclaration,
];

function declaredPolicies(table: TableSchema): (readonly [columnId: number, ColumnPolicy])[] {
  const idsOf = (names: readonly string[]): number[] =>
    table.columns.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  return [
    ...idsOf(table.merge.counters).map((id) => [id, counter] as const),
    ...table.merge.groups.flatMap((names) => {
      const policy = group(idsOf(names));
      return idsOf(names).map((id) => [id, policy] as const);
    }),
    ...[...documentColumns(table).keys()].map((id) => [id, document] as const),
  ];
}

const resolved = new WeakMap<TableSchema, TablePolicies>();

/** The policies of a table, resolved once per schema object. */
export function policiesOf(table: TableSchema): TablePolicies {
  const known = resolved.get(table);
  if (known !== undefined) return known;
  const policies = tablePolicies(declaredPolicies(table));
  resolved.set(table, policies);
  return policies;
}

export function policyOf(table: TableSchema, columnId: number): ColumnPolicy {
  return policiesOf(table).byColumn.get(columnId) ?? lastWriter;
}
