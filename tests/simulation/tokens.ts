import type { Principal } from '#sync-server/auth/principal.ts';

/** An opaque token that names a device and ends at `expiresAtMs`. */
export function tokenFor(device: string, expiresAtMs: number): string {
  return `${device} ${expiresAtMs}`;
}

/** A JWT with the same meaning, whose expiry the client can read. It has no signature. */
export function jwtFor(device: string, expiresAtMs: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return [part({ alg: 'none' }), part({ sub: device, exp: expiresAtMs / 1000 }), ''].join('.');
}

export function readToken(token: string): Principal {
  const payload = token.split('.')[1];
  if (payload !== undefined) {
    // JSON has no Infinity.
    const { sub, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
      sub: string;
      exp: number | null;
    };
    return { id: sub, expiresAtMs: exp === null ? Infinity : exp * 1000 };
  }
  const [id = '', expiresAtMs] = token.split(' ');
  return { id, expiresAtMs: Number(expiresAtMs) };
}
