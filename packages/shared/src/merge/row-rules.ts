import type { DeleteRule } from '../schema/schema.ts';
import type { TablePolicies } from './column-policy.ts';

/** The merge rules of the row's table. */
export interface RowRules {
  readonly deleteRule: DeleteRule;
  readonly policies: TablePolicies;
}
