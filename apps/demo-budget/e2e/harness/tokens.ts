import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The signing secret of a running demo server, as an attacker who stole its data folder would read it. */
export function secretOf(dataFolder: string): Uint8Array {
  return readFileSync(join(dataFolder, 'signing-secret'));
}

/** A token in the server's format with these claims, signed with this secret (HS256). */
export function signToken(claims: Readonly<Record<string, unknown>>, secret: Uint8Array): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** Decodes the claims of a server token, so that a test can change one claim of a real token. */
export function claimsOf(token: string): Record<string, unknown> {
  const [, claims] = token.split('.');
  return JSON.parse(Buffer.from(claims ?? '', 'base64url').toString()) as Record<string, unknown>;
}
