/** What a token allows. */
export interface Grant {
  /** Who it is for: kept in the log and named in the conflict ledger. */
  readonly principal: string;
  readonly databases: readonly string[];
  readonly access: 'read' | 'write';
  /** ms since 1970. A live session ends then, unless its token is renewed. */
  readonly expiresAtMs: number;
}

/**
 * Checks a token. Throws `auth-token-expired` or `auth-token-invalid`; anything else thrown is logged by its name and
 * reported as `auth-token-invalid`. A host passes its own to use its own sessions.
 */
export type Authenticate = (token: string) => Promise<Grant>;
