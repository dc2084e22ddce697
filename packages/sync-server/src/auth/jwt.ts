import {
  decodeProtectedHeader,
  errors,
  jwtVerify,
  SignJWT,
  type JSONWebKeySet,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose';
import { RockpoolError } from '@rockpool/shared';
import { discoveredKeys, keysOf } from './key-set.ts';
import type { Authenticate, Principal } from './principal.ts';
import { isRole, ROLES, type Role } from './role.ts';

export const TOKEN_AUDIENCE = 'rockpool';
export const TOKEN_ISSUER = 'rockpool-server';

/** HS256 is as strong as its key, and an offline attacker can try billions of keys per second. */
export const MIN_SECRET_BYTES = 32;

/*
 * The algorithms are pinned per kind of key, because the algorithm that a token names cannot be trusted. A public key
 * never checks an HMAC, and a secret never checks a signature.
 */
const SECRET_ALGORITHM = 'HS256';
const KEY_SET_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];

/**
 * The clocks of an identity provider and of this server may differ. Tokens of `secret` have no leeway for their expiry,
 * but the clock of an instance that issues one may be ahead.
 */
const CLOCK_LEEWAY_S = 60;

/** Which tokens are accepted, and how they are verified. One of `secret`, `keySet` and `oidcIssuer` is required. */
export interface TokenRules {
  /** The key of HS256 tokens. */
  readonly secret?: Uint8Array;
  /**
   * The secret that `secret` replaced, while tokens that it signed are still in use. It verifies tokens but signs none.
   */
  readonly previousSecret?: Uint8Array;
  /**
   * Public keys of RS256, PS256, ES256, ES384 and EdDSA tokens: a JWKS, or the URL of one, which is fetched every 10
   * minutes and when a token names an unknown key. While it cannot be fetched, the keys that were fetched last are
   * accepted for up to 24 hours.
   */
  readonly keySet?: JSONWebKeySet | URL;
  /**
   * The issuer of an OpenID Connect provider, such as `https://id.example.org/realms/app`. Its discovery document names
   * the key set, and its tokens have this `iss` claim.
   */
  readonly oidcIssuer?: string;
  /** The required `iss` claim. With `oidcIssuer`, it applies only to tokens of `secret`. Default: `rockpool-server`. */
  readonly issuer?: string;
  /** The required `aud` claim. Default: `rockpool`. */
  readonly audience?: string;
}

export interface TokenRequest {
  readonly principal: string;
  readonly databases: readonly string[];
  /** Default `editor`. */
  readonly role?: Role;
  /** The name that others see in presence. */
  readonly name?: string;
  /** Earlier ids of the same user; see Principal. */
  readonly formerly?: readonly string[];
  readonly ttlMs: number;
}

/**
 * Returns a signed JWT with the claims `sub` (the principal), `name`, `databases`, `role`, `formerly`, `iss`, `aud`,
 * `nbf` and `exp`. Throws `config-invalid` with every problem of the request.
 */
export async function issueToken(
  secret: Uint8Array,
  request: TokenRequest,
  nowMs: number,
  { issuer = TOKEN_ISSUER, audience = TOKEN_AUDIENCE }: Pick<TokenRules, 'issuer' | 'audience'> = {},
): Promise<string> {
  checkRequest(request);
  const { principal, name, databases, role = 'editor', formerly = [], ttlMs } = request;
  const nowS = Math.floor(nowMs / 1000);
  return new SignJWT({
    databases: [...databases],
    role,
    ...(name !== undefined && { name }),
    ...(formerly.length > 0 && { formerly: [...formerly] }),
  })
    .setProtectedHeader({ alg: SECRET_ALGORITHM })
    .setSubject(principal)
    .setIssuer(issuer)
    .setAudience(audience)
    .setNotBefore(nowS - CLOCK_LEEWAY_S)
    .setExpirationTime(nowS + Math.ceil(ttlMs / 1000))
    .sign(secret);
}

function checkRequest({ principal, databases, role = 'editor', formerly = [], ttlMs }: TokenRequest): void {
  const problems = [
    ...(isPrincipalId(principal) ? [] : [`principal: ${PRINCIPAL_PROBLEM}`]),
    ...(isTextList(databases) ? [] : ['databases: must be a list of database ids, which may be empty']),
    ...(isRole(role) ? [] : [`role: must be one of ${ROLES.join(', ')}`]),
    ...(isTextList(formerly) ? [] : ['formerly: must be a list of ids']),
    ...(Number.isFinite(ttlMs) && ttlMs > 0 ? [] : ['ttlMs: must be the lifetime of the token in milliseconds']),
  ];
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}

/**
 * Verifies tokens from issueToken, and tokens of an identity provider with the public keys of `keySet`.
 * `onOutdatedKeys` is called when the keys could not be fetched again. Older ones are used for a day after their fetch.
 */
export function jwtAuthenticate(
  { secret, previousSecret, keySet, oidcIssuer, issuer = TOKEN_ISSUER, audience = TOKEN_AUDIENCE }: TokenRules,
  now: () => number,
  onOutdatedKeys: (error: unknown) => void = () => undefined,
): Authenticate {
  const publicKeys =
    keySet !== undefined
      ? keysOf(keySet, onOutdatedKeys)
      : oidcIssuer !== undefined
        ? discoveredKeys(oidcIssuer, onOutdatedKeys)
        : null;
  const verify = (token: string, options: JWTVerifyOptions): Promise<JWTVerifyResult> => {
    const { alg } = decodeProtectedHeader(token);
    if (alg === SECRET_ALGORITHM && secret !== undefined)
      return verifyBySecrets(token, secret, previousSecret, { ...options, algorithms: [SECRET_ALGORITHM] });
    if (alg !== undefined && KEY_SET_ALGORITHMS.includes(alg) && publicKeys !== null)
      return jwtVerify(token, publicKeys, {
        ...options,
        issuer: oidcIssuer ?? issuer,
        algorithms: KEY_SET_ALGORITHMS,
        clockTolerance: CLOCK_LEEWAY_S,
      });
    throw new RockpoolError('auth-token-invalid');
  };
  return async (token) => {
    try {
      const { payload, protectedHeader } = await verify(token, {
        audience,
        issuer,
        requiredClaims: ['sub', 'aud', 'iss', 'exp'],
        currentDate: new Date(now()),
      });
      return readPrincipal(payload, protectedHeader.alg === SECRET_ALGORITHM ? 0 : CLOCK_LEEWAY_S);
    } catch (error) {
      throw tokenError(error);
    }
  };
}

async function verifyBySecrets(
  token: string,
  secret: Uint8Array,
  previous: Uint8Array | undefined,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, secret, options);
  } catch (error) {
    if (previous === undefined || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    return jwtVerify(token, previous, options);
  }
}

function tokenError(error: unknown): RockpoolError {
  if (error instanceof RockpoolError) return error;
  if (error instanceof errors.JWTExpired) return new RockpoolError('auth-token-expired');
  // The signature was valid, so only a holder of a signed token learns which claim was refused.
  return error instanceof errors.JWTClaimValidationFailed
    ? refusedClaim(error.claim)
    : new RockpoolError('auth-token-invalid');
}

function refusedClaim(claim: string): RockpoolError {
  return new RockpoolError('auth-token-invalid', { claim });
}

function readPrincipal(payload: Readonly<Record<string, unknown>>, leewayS: number): Principal {
  const { sub, exp, name, databases = [], role = 'viewer', formerly = [] } = payload;
  if (!isPrincipalId(sub)) throw refusedClaim('sub');
  if (typeof exp !== 'number') throw refusedClaim('exp');
  if (!isTextList(databases)) throw refusedClaim('databases');
  if (!isTextList(formerly)) throw refusedClaim('formerly');
  if (!isRole(role)) throw refusedClaim('role');
  return {
    id: sub,
    ...(typeof name === 'string' && { name }),
    formerly,
    databases,
    role,
    expiresAtMs: (exp + leewayS) * 1000,
  };
}

/** The id is stored with every changeset. OpenID limits ids to 255 characters too. */
const MAX_PRINCIPAL_LENGTH = 255;

/** What a principal id must be. */
export const PRINCIPAL_PROBLEM: string = `must have 1 to ${MAX_PRINCIPAL_LENGTH} characters, which are valid Unicode and not NUL`;

/**
 * The name is sent with every presence state. A longer name is truncated, not rejected, because identity providers let
 * users choose any name.
 */
const MAX_NAME_LENGTH = 100;

export function shortName(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed();
}

/** PostgreSQL cannot store NUL, and UTF-8 has no lone surrogates. */
export function isPrincipalId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= MAX_PRINCIPAL_LENGTH &&
    !value.includes('\0') &&
    value.isWellFormed()
  );
}

export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
