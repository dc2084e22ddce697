import { RockpoolError } from '@rockpool/shared';
import { adminTokenProblem } from '../auth/admin-access.ts';
import { proxyProblem } from '../auth/client-address.ts';
import { isHttpUrl } from '../auth/http-url.ts';
import { isKeySet } from '../auth/key-set.ts';
import { metricsTokenProblem } from '../auth/metrics-access.ts';
import { isRole } from '../auth/role.ts';
import { placeProblems } from '../backup/open-destination.ts';
import { originProblem } from '../auth/origin.ts';
import { previousSecretProblem, secretProblem } from '../auth/secret.ts';
import { natsUrlProblem } from '../bus/nats-bus.ts';
import { isThreadCount, MAX_THREADS } from '../database/thread-count.ts';
import { MIN_CONNECTIONS } from '../postgres/connection.ts';
import { shardProblems } from '../postgres/shard.ts';
import type { BackupRules } from '../backup/backup-rules.ts';
import type { SyncServerOptions } from '../sync-server.ts';
import { numberProblems } from './number-options.ts';

/** The secrets of the options as bytes. */
export interface Secrets {
  readonly secret: Uint8Array | undefined;
  readonly previousSecret: Uint8Array | undefined;
}

/** Throws `config-invalid` with every problem at once. */
export function checkOptions(options: SyncServerOptions, { secret, previousSecret }: Secrets): void {
  const {
    admin,
    authenticate,
    backup,
    historyRole,
    instanceUrl,
    keySet,
    metrics,
    nats,
    oidcIssuer,
    origins = [],
    postgres,
    postgresConnections,
    quotas,
    threads = 1,
    trustedProxies = [],
    validate,
  } = options;
  const problems = [...origins.map(originProblem), ...trustedProxies.map(proxyProblem)].filter(
    (problem) => problem !== null,
  );
  problems.push(...numberProblems(options));
  if (secret === undefined && keySet === undefined && oidcIssuer === undefined && authenticate === undefined)
    problems.push('set secret, keySet, oidcIssuer or authenticate');
  if (keySet !== undefined && !isKeySet(keySet)) problems.push('keySet must be a JWKS or a URL');
  if (oidcIssuer !== undefined && !isHttpUrl(oidcIssuer)) problems.push('oidcIssuer must be the URL of an issuer');
  if (instanceUrl !== undefined && !isHttpUrl(instanceUrl))
    problems.push('instanceUrl must be a URL such as http://10.0.0.5:4400/sync');
  if (typeof postgres === 'object') problems.push(...shardProblems(postgres).map((problem) => `postgres: ${problem}`));
  if (postgres !== undefined && (quotas?.maxTenantBytes ?? Infinity) < Infinity)
    problems.push('quotas.maxTenantBytes needs a data directory: the server does not measure databases in PostgreSQL');
  if (nats !== undefined) {
    if (postgres === undefined) problems.push('nats needs postgres: a data directory has one instance');
    if (nats.servers.length === 0) problems.push('nats: servers must not be empty');
    for (const problem of nats.servers.map(natsUrlProblem).filter((one) => one !== null))
      problems.push(`nats: a server must be ${problem}`);
  }
  const minConnections = threads > 1 ? MIN_CONNECTIONS * (threads + 1) : MIN_CONNECTIONS;
  if (postgresConnections !== undefined && !(postgresConnections >= minConnections))
    problems.push(
      `postgresConnections must be at least ${minConnections}${threads > 1 ? ` with ${threads} threads` : ''}`,
    );
  if (!isThreadCount(threads)) problems.push(`threads must be a whole number from 1 to ${MAX_THREADS}`);
  const tokenProblem = typeof metrics === 'object' ? metricsTokenProblem(metrics.token) : null;
  if (tokenProblem !== null) problems.push(tokenProblem);
  const adminProblem = admin === undefined ? null : adminTokenProblem(admin.token);
  if (adminProblem !== null) problems.push(adminProblem);
  if (historyRole !== undefined && !isRole(historyRole)) problems.push('historyRole must be owner, editor or viewer');
  if (threads > 1 && validate !== undefined) problems.push('validate needs threads: 1');
  if (backup !== undefined) problems.push(...backupProblems(backup, postgres));
  const weakness = secret === undefined ? null : secretProblem(secret);
  if (weakness !== null) problems.push(weakness);
  const previousProblem = previousSecretProblem(secret, previousSecret);
  if (previousProblem !== null) problems.push(`previousSecret: ${previousProblem}`);
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}

const MIN_KEEP_MS = 60_000;

/** Far below the longest time of a timer, 25 days: with a longer one, it would fire without a pause. */
const MAX_INTERVAL_MS = 86_400_000;

function backupProblems(backup: BackupRules, postgres: SyncServerOptions['postgres']): string[] {
  const { intervalMs = 1, keepMs = MIN_KEEP_MS, unloadAfterMs = 1 } = backup;
  return [
    ...(postgres === undefined
      ? []
      : ['backup copies files; back up PostgreSQL with its own tools, such as WAL archiving']),
    ...placeProblems(backup, process.env),
    ...(intervalMs >= 1 && intervalMs <= MAX_INTERVAL_MS ? [] : ['backup.intervalMs must be from 1 ms to a day']),
    ...(unloadAfterMs >= 1 ? [] : ['backup.unloadAfterMs must be at least 1']),
    ...(keepMs >= MIN_KEEP_MS ? [] : ['backup.keepMs must be at least a minute']),
  ];
}
