import { errors, jwtVerify, SignJWT } from 'jose';
import { RockpoolError } from '@rockpool/shared';
import type { Authenticate, Grant } from './grant.ts';

/** Pinned: a token says which algorithm it uses, and is not to be believed in that. */
const ALGORITHM = 'HS256';
export const TOKEN_AUDIENCE = 'rockpool';
export const TOKEN_ISSUER = 'rockpool-server';

/** HS256 is as strong as its key, and an offline attacker tries billions a second. */
export const MIN_SECRET_BYTES = 32;

export interface TokenRequest {
  readonly principal: string;
  readonly databases: readonly string[];
  /** Default `write`. */
  readonly access?: 'read' | 'write';
  readonly ttlMs: number;
}

/** A signed JWT: `sub` the principal, `databases`, `access`, and `iss`, `aud`, `nbf`, `exp`. */
export async function issueToken(secret: Uint8Array, { principal, databases, access = 'write', ttlMs }: TokenRequest, nowMs: number): Promise<string> {
  const nowS = Math.floor(nowMs / 1000);
  return new SignJWT({ databases: [...databases], access })
    .setProtectedHeader({ alg: ALGORITHM })
    .setSubject(principal)
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TOKEN_AUDIENCE)
    .setNotBefore(nowS)
    .setExpirationTime(nowS + Math.ceil(ttlMs / 1000))
    .sign(secret);
}

/** Checks tokens as issueToken makes them, whoever signed them with the same secret. */
export function jwtAuthenticate(secret: Uint8Array, now: () => number): Authenticate {
  return async (token): Promise<Grant> => {
    try {
      const { payload } = await jwtVerify(token, secret, {
        algorithms: [ALGORITHM],
        audience: TOKEN_AUDIENCE,
        issuer: TOKEN_ISSUER,
        requiredClaims: ['sub', 'nbf', 'exp'],
        currentDate: new Date(now()),
      });
      return readGrant(payload);
    } catch (error) {
      if (error instanceof RockpoolError) throw error;
      throw new RockpoolError(error instanceof errors.JWTExpired ? 'auth-token-expired' : 'auth-token-invalid');
    }
  };
}

function readGrant(payload: Readonly<Record<string, unknown>>): Grant {
  const { sub, exp, databases, access } = payload;
  const valid =
    typeof sub === 'string' &&
    sub.length > 0 &&
    typeof exp === 'number' &&
    Array.isArray(databases) &&
    databases.every((id) => typeof id === 'string') &&
    (access === 'read' || access === 'write');
  if (!valid) throw new RockpoolError('auth-token-invalid');
  return { principal: sub, databases: databases as string[], access, expiresAtMs: exp * 1000 };
}
