import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  jwksCache,
  type JSONWebKeySet,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
} from 'jose';
import { RockpoolError } from '@rockpool/shared';
import { isHttpUrl } from './http-url.ts';

/** The keys are fetched again after this time, because the provider may have withdrawn one. */
const FRESH_MS = 10 * 60_000;

/**
 * How long keys are accepted while they cannot be fetched again. Tokens of a provider that does not respond expire
 * sooner, usually within an hour.
 */
const OUTDATED_MS = 24 * 3_600_000;

/** The delay after a failed fetch. Tokens are verified with older keys meanwhile. */
const FETCH_AGAIN_MS = 30_000;

/** The delay after a failed fetch while there are no older keys. */
const FETCH_FIRST_AGAIN_MS = 1_000;

/** Whether a value of the host is a key set or the URL of one. */
export function isKeySet(value: JSONWebKeySet | URL): boolean {
  try {
    return value instanceof URL ? isHttpUrl(value.href) : createLocalJWKSet(value) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the keys of a set, or of the set at a URL. See jwtAuthenticate for `onOutdated`. */
export function keysOf(keySet: JSONWebKeySet | URL, onOutdated: (error: unknown) => void): JWTVerifyGetKey {
  return keySet instanceof URL ? keysAt(keySet, onOutdated) : createLocalJWKSet(keySet);
}

function keysAt(url: URL, onOutdated: (error: unknown) => void): JWTVerifyGetKey {
  // `uat`: when the keys were last fetched.
  const last: { readonly uat?: number } = {};
  const fetched = createRemoteJWKSet(url, { cacheMaxAge: Infinity, [jwksCache]: last as JWKSCacheInput });
  const requireRecent = recentKeys(() => last.uat, fetched.reload, onOutdated);
  // The ids of keys that the set lacked right after a fetch.
  const lacked = new Set<string | undefined>();
  return async (header, token) => {
    const { coolingDown } = fetched;
    await requireRecent();
    try {
      return await fetched(header, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey && !coolingDown) remember(lacked, header.kid);
      // The provider may have published the key since the last fetch, which is less than 30 s ago. Without this check,
      // users would have to sign in again after a rotation.
      else if (error instanceof errors.JWKSNoMatchingKey && !lacked.has(header.kid))
        throw new RockpoolError('auth-unavailable', {}, { cause: error });
      // While the keys cannot be fetched, the validity of the token is unknown; the client must then retry instead of
      // signing in again.
      if (
        error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys ||
        error instanceof errors.JOSENotSupported
      )
        throw error;
      throw new RockpoolError('auth-unavailable', {}, { cause: error });
    }
  };
}

/**
 * Returns a function that fetches keys if there are none, or if they are older than FRESH_MS. If that fails, it
 * resolves as long as they are younger than OUTDATED_MS. Throws `auth-unavailable`, with the error of the last fetch as
 * its cause. Tokens that arrive together share a fetch.
 */
function recentKeys(
  fetchedMs: () => number | undefined,
  fetchAgain: () => Promise<void>,
  onOutdated: (error: unknown) => void,
): () => Promise<void> {
  let failed: { readonly ms: number; readonly error: unknown } = { ms: -Infinity, error: undefined };
  let fetching: Promise<void> | null = null;
  // The clock may have been set back.
  const ageMs = (): number => Math.abs(Date.now() - (fetchedMs() ?? -Infinity));
  const refresh = async (): Promise<void> => {
    try {
      await fetchAgain();
    } catch (error) {
      failed = { ms: Date.now(), error };
      onOutdated(error);
    } finally {
      fetching = null;
    }
  };
  return async () => {
    if (ageMs() < FRESH_MS) return;
    const delayMs = fetchedMs() === undefined ? FETCH_FIRST_AGAIN_MS : FETCH_AGAIN_MS;
    if (Math.abs(Date.now() - failed.ms) >= delayMs) await (fetching ??= refresh());
    if (ageMs() >= OUTDATED_MS) throw new RockpoolError('auth-unavailable', {}, { cause: failed.error });
  };
}

const MAX_LACKED_KEYS = 1_000;

/** Limits the number of remembered ids, because tokens may name any key. Forgets the oldest one first. */
function remember(lacked: Set<string | undefined>, kid: string | undefined): void {
  lacked.delete(kid);
  lacked.add(kid);
  const [oldest] = lacked;
  if (lacked.size > MAX_LACKED_KEYS) lacked.delete(oldest);
}

/**
 * Finds the key set of an OpenID Connect provider at the first token, and again from time to time, because the provider
 * may have moved it: after FRESH_MS, or earlier if a token cannot be verified. If that fails, the known key set counts.
 */
export function discoveredKeys(issuer: string, onOutdated: (error: unknown) => void): JWTVerifyGetKey {
  let known: { readonly url: string; readonly keys: JWTVerifyGetKey } | null = null;
  let failure: unknown;
  let discoveredMs = 0;
  let discovering: Promise<void> | null = null;
  const discover = async (): Promise<void> => {
    try {
      const url = await discoverKeySet(issuer);
      if (known?.url !== url.href) known = { url: url.href, keys: keysAt(url, onOutdated) };
    } catch (error) {
      failure = error;
      onOutdated(error);
    } finally {
      discoveredMs = Date.now();
      discovering = null;
    }
  };
  const keysWithin = async (maxAgeMs: number): Promise<JWTVerifyGetKey> => {
    // The clock may have been set back.
    if (known === null || Math.abs(Date.now() - discoveredMs) >= maxAgeMs) await (discovering ??= discover());
    if (known === null) throw new RockpoolError('auth-unavailable', {}, { cause: failure });
    return known.keys;
  };
  return async (header, token) => {
    const keys = await keysWithin(FRESH_MS);
    try {
      return await keys(header, token);
    } catch (error) {
      const moved = await keysWithin(FETCH_AGAIN_MS);
      if (moved === keys) throw error;
      return moved(header, token);
    }
  };
}

const DISCOVERY_TIMEOUT_MS = 5_000;

async function discoverKeySet(issuer: string): Promise<URL> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(DISCOVERY_TIMEOUT_MS) });
  if (!response.ok)
    throw new Error(`the request for the issuer's discovery document failed with status ${response.status}`);
  const { issuer: named, jwks_uri: keySet } = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
  // The document of a different issuer would let that issuer decide which tokens are valid.
  if (named !== issuer) throw new Error('the discovery document names a different issuer');
  if (typeof keySet !== 'string' || new URL(keySet).protocol !== new URL(issuer).protocol)
    throw new Error('the discovery document names no key set, or one whose URL scheme is not that of the issuer');
  return new URL(keySet);
}
