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
 * author sees. Runs inside the commit, so it is synchronous. If it throws or returns anything else, the changeset is
 * refused for now and sent again; its third failure rejects it.
 */
export type Validate = (changeset: ChangesetToValidate) => string | null;

// The reason is stored with the outcome and sent to the author.
const MAX_REASON_LENGTH = 200;

/** Throws `changeset-refused`, and `database-unavailable` if the rule returns neither null nor a string. */
export function requireValid(validate: Validate, rows: readonly MergedRow[], principal: string): void {
  const changes = rows.filter(({ before, after }) => !isUnchanged(before, after)).map(toRowChange);
  const reason: unknown = validate({ principal, changes });
  if (reason === null) return;
  if (typeof reason === 'string')
    throw new RockpoolError('changeset-refused', { reason: reason.slice(0, MAX_REASON_LENGTH) });
  // A host in JavaScript may pass an asynchronous function. Unhandled, its rejection would end the process.
  if (reason instanceof Promise) reason.catch(() => undefined);
  const problem = 'validate returned neither null nor a string';
  throw new RockpoolError('database-unavailable', { problem }, { cause: new TypeError(problem) });
}
