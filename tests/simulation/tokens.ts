import type { Principal } from '#sync-server/auth/principal.ts';

/** A token that names a device and ends at `expiresAtMs`. */
export function tokenFor(device: string, expiresAtMs: number): string {
  return `${device} ${expiresAtMs}`;
}

export function readToken(token: string): Principal {
  const [id = '', expiresAtMs] = token.split(' ');
  return { id, expiresAtMs: Number(expiresAtMs) };
}
