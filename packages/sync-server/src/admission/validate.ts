import { RockpoolError } from '@rockpool/shared';
import type { MergedRow } from '../merge/merged-row.ts';
import { toRowChange, type BackendRowChange } from '../merge/named-row.ts';

/** A changeset that is about to be admitted, as the rows would be. */
export interface ChangesetToValidate {
  readonly principal: string;
  /** Rows that go with others (`ON DELETE CASCADE`) are among them. */
  readonly changes: readonly BackendRowChange[];
}

/**
 * The app's own rule: null admits, a text refuses the changeset with that reason, which its author is told
 * (`changeset-refused`). Called inside the commit, so it has to answer at once; what it throws refuses the whole push
 * for now.
 */
export type Validate = (changeset: ChangesetToValidate) => string | null;

// It is stored with the outcome, and travels.
const MAX_REASON_LENGTH = 200;

/** Throws `changeset-refused`. */
export function requireValid(validate: Validate, rows: readonly MergedRow[], principal: string): void {
  const changes = rows.filter(({ before, after }) => before !== after).map(toRowChange);
  const reason = validate({ principal, changes });
  if (reason !== null) throw new RockpoolError('changeset-refused', { reason: reason.slice(0, MAX_REASON_LENGTH) });
}
