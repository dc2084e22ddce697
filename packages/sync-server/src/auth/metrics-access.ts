import { operatorTokenProblem } from './operator-token.ts';

/**
 * Who may read `/metrics`: anyone, holders of a separate token, or nobody, because metrics are served at another
 * address.
 */
export type MetricsAccess = 'public' | 'none' | { readonly token: string };

const MIN_TOKEN_LENGTH = 16;

/** Returns the problem of the metrics token, or null. */
export function metricsTokenProblem(token: string): string | null {
  return operatorTokenProblem('metrics', token, MIN_TOKEN_LENGTH);
}
