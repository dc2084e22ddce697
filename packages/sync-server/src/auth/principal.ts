import type { Operation, Role } from './role.ts';

/** The user that a token names, and the token's claims. */
export interface Principal {
  /** 1 to 255 characters of valid Unicode without NUL. Stored in the log and in the conflict log. */
  readonly id: string;
  /** The name that others see in presence, cut after 100 characters. Default: only the id is shown. */
  readonly name?: string;
  /**
   * Earlier ids of the same user, such as the id of an anonymous start, so that a device keeps its site id after a
   * sign-in. Default: none.
   */
  readonly formerly?: readonly string[];
  /** In ms since 1970. An open session ends at this time unless its token is renewed. */
  readonly expiresAtMs: number;
  /** Databases that the token grants access to, with `role`. Default: none, so only stored roles grant access. */
  readonly databases?: readonly string[];
  /** Default: `viewer`. */
  readonly role?: Role;
}

/**
 * Verifies a token. Rejects with `auth-token-expired`, `auth-token-invalid`, or `auth-unavailable` if the token cannot
 * be verified now. Any other error is logged by its name and reported as `auth-token-invalid`; an invalid principal is
 * logged and reported too. If this and the `authorize` calls of a new session or request take longer than 12 s
 * together, that is logged and counts as `auth-unavailable`. A host can pass its own function to use its own sessions.
 */
export type Authenticate = (token: string) => Promise<Principal>;

/**
 * Whether a principal may do this now. Called for every message and request, and every few seconds for a session that
 * only listens, so that a revocation takes effect within 5 s. A rejection and any value that is not a boolean are
 * logged and count as false, except a rejection with `auth-unavailable`, after which the client tries again without a
 * new token. A function that does not answer within 12 s is logged and counts as `auth-unavailable`.
 */
export type Authorize = (principal: Principal, databaseId: string, operation: Operation) => boolean | Promise<boolean>;
