import { RockpoolError } from '@rockpool/shared';
import { isUnchanged, type MergedRow } from '../merge/merged-row.ts';
import { toRowChange, type BackendRowChange } from '../merge/named-row.ts';

/** A changeset that is about to be admitted. */
export interface ChangesetToValidate {
  readonly principal: string;
  /** Its rows before and after, including rows deleted by `ON DELETE CASCADE`. */
  readonly changes: readonly BackendRowChange[];
}

/**
 * The app's own rule: null admits; a string rejects the changeset with `changeset-refused` and that reason, which the
 * author sees. Runs inside the commit, so it is synchronous. If it throws, the whole push is refused for now and may be
 * sent again.
 */
export type Validate = (changeset: ChangesetToValidate) => string | null;

// The reason is stored with the outcome and sent to the author.
const MAX_REASON_LENGTH = 200;

/** Throws `changeset-refused`. */
export function requireValid(validate: Validate, rows: readonly MergedRow[], principal: string): void {
  const changes = rows.filter(({ before, after }) => !isUnchanged(before, after)).map(toRowChange);
  const reason = validate({ principal, changes });
  if (reason !== null) throw new RockpoolError('changeset-refused', { reason: reason.slice(0, MAX_REASON_LENGTH) });
}
