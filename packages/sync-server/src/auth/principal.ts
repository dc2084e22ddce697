import type { Operation, Role } from './role.ts';

/** Who a token is for, and what it says. */
export interface Principal {
  /** Kept in the log, and named in the conflict log. */
  readonly id: string;
  /** What others see of them in presence. Default: nothing but the id. */
  readonly name?: string;
  /**
   * Ids that the same person had before, such as that of an anonymous start: after a sign-in a device goes on as the
   * site that it was. Default: none.
   */
  readonly formerly?: readonly string[];
  /** ms since 1970. A live session ends then, unless its token is renewed. */
  readonly expiresAtMs: number;
  /** Databases that the token itself opens, and as what. Default: none; then the members of a database decide. */
  readonly databases?: readonly string[];
  /** Default: `viewer`. */
  readonly role?: Role;
}

/**
 * Checks a token. Throws `auth-token-expired`, `auth-token-invalid`, or `auth-unavailable` where it cannot tell now;
 * anything else thrown is logged by its name and reported as `auth-token-invalid`. A host passes its own to use its own
 * sessions.
 */
export type Authenticate = (token: string) => Promise<Principal>;

/**
 * Whether somebody may do this now. Asked for every message and request, and every few seconds for a session that only
 * listens, so what a host takes away is gone within 5 s. A promise that rejects is a no.
 */
export type Authorize = (principal: Principal, databaseId: string, operation: Operation) => boolean | Promise<boolean>;
