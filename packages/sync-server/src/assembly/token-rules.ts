import type { TokenRules } from '../auth/jwt.ts';
import type { Secrets } from './check-options.ts';
import type { SyncServerOptions } from '../sync-server.ts';

export function toBytes(secret: string | Uint8Array | undefined): Uint8Array | undefined {
  return typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
}

export function tokenRules(
  { keySet, oidcIssuer, issuer, audience }: SyncServerOptions,
  { secret, previousSecret }: Secrets,
): TokenRules {
  return {
    ...(secret && { secret }),
    ...(previousSecret && { previousSecret }),
    ...(keySet && { keySet }),
    ...(oidcIssuer && { oidcIssuer }),
    ...(issuer && { issuer }),
    ...(audience && { audience }),
  };
}
