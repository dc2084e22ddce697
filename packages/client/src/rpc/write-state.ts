import type { ErrorData } from '@rockpool/shared';

/** How far a write has come: */
export type WriteState =
  /** Waits for the server's outcome. */
  | { readonly state: 'pending' }
  /** Admitted by the server, or changed no synced row. */
  | { readonly state: 'admitted' }
  /** Rejected by the server, even if the user has decided since. */
  | { readonly state: 'rejected'; readonly error: ErrorData }
  /** No write has this id, or its outcome is more than a day old. */
  | { readonly state: 'unknown' };
