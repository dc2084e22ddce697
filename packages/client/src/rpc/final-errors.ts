import type { ErrorCode } from '@rockpool/shared';

/**
 * Errors with which a tab ends, because no further attempt to open the database succeeds before a person acts: another
 * tab has bound the database to a different server database or principal, has migrated it, or runs a newer app or one
 * with other options. A migration that waited for undecided changes can also fail when a tab takes over. Storage errors
 * are not among them, because their cause may pass.
 */
export const FINAL_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'database-mismatch',
  'database-newer',
  'migration-failed',
  'other-principal',
  'schema-incompatible',
  'tab-options-differ',
  'tab-outdated',
]);
