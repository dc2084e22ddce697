import { RockpoolError } from '@rockpool/shared';
import { metricsTokenProblem } from './auth/metrics-access.ts';
import { originProblem } from './auth/origin.ts';
import { previousSecretProblem, secretProblem } from './auth/secret.ts';
import { MIN_CONNECTIONS } from './postgres/connection.ts';
import type { SyncServerOptions } from './sync-server.ts';

/** The secrets of the options as bytes. */
export interface Secrets {
  readonly secret: Uint8Array | undefined;
  readonly previousSecret: Uint8Array | undefined;
}

/** Throws `config-invalid` with every problem at once. */
export function checkOptions(
  {
    authenticate,
    keySet,
    metrics,
    oidcIssuer,
    origins = [],
    postgresConnections,
    threads = 1,
    validate,
  }: SyncServerOptions,
  { secret, previousSecret }: Secrets,
): void {
  const problems = origins.map(originProblem).filter((problem) => problem !== null);
  if (secret === undefined && keySet === undefined && oidcIssuer === undefined && authenticate === undefined)
    problems.push('one of secret, keySet, oidcIssuer and authenticate is needed');
  const minConnections = threads > 1 ? MIN_CONNECTIONS * (threads + 1) : MIN_CONNECTIONS;
  if (postgresConnections !== undefined && !(postgresConnections >= minConnections))
    problems.push(`postgresConnections: at least ${minConnections}${threads > 1 ? ` with ${threads} threads` : ''}`);
  if (!(Number.isInteger(threads) && threads >= 1)) problems.push('threads: a whole number of at least 1');
  const tokenProblem = typeof metrics === 'object' ? metricsTokenProblem(metrics.token) : null;
  if (tokenProblem !== null) problems.push(tokenProblem);
  if (threads > 1 && validate !== undefined) problems.push('validate needs threads: 1');
  const weakness = secret === undefined ? null : secretProblem(secret);
  if (weakness !== null) problems.push(weakness);
  const previousProblem = previousSecretProblem(secret, previousSecret);
  if (previousProblem !== null) problems.push(`previousSecret: ${previousProblem}`);
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}
