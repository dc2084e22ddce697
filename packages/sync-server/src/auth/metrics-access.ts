import { createHash, timingSafeEqual } from 'node:crypto';

/** Who may read `/metrics`: anyone, holders of a token of its own, or nobody, because they are served elsewhere. */
export type MetricsAccess = 'public' | 'none' | { readonly token: string };

/** What is wrong with the token that scrapers of metrics send; null: nothing. */
export function metricsTokenProblem(token: string): string | null {
  return /^\S{16,}$/.test(token) ? null : 'the token of metrics needs at least 16 characters and no spaces';
}

/** Compares in a time that does not depend on the characters. */
export function isMetricsToken(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
