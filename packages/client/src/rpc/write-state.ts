import type { ErrorData } from '@rockpool/shared';

/** What became of a write: */
export type WriteState =
  /** It waits here for the server's word. */
  | { readonly state: 'pending' }
  /** The server has it for good, or there was nothing in it that is synced. */
  | { readonly state: 'admitted' }
  /** The server refused it; it is rejected, unless the user has decided since. */
  | { readonly state: 'rejected'; readonly error: ErrorData }
  /** Nobody wrote anything under this id, or it was decided more than a day ago. */
  | { readonly state: 'unknown' };
