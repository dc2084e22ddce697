import { createHash, timingSafeEqual } from 'node:crypto';

/** Returns the problem of a token that operators choose themselves, such as the metrics token, or null. */
export function operatorTokenProblem(purpose: string, token: string, minLength: number): string | null {
  // A host in JavaScript reads undefined from an unset environment variable.
  return typeof token === 'string' && /^\S+$/.test(token) && token.length >= minLength
    ? null
    : `the token of ${purpose} needs at least ${minLength} characters and no spaces`;
}

/** Compares in constant time, independent of the characters. */
export function isOperatorToken(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

/** The bearer token of a request, or an empty string. */
export function bearerToken(authorization: string | null | undefined): string {
  return /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
}
