import { availableParallelism } from 'node:os';
import type { Schema } from '@rockpool/shared';
import { adminTokenProblem, type AdminAccess } from '../auth/admin-access.ts';
import { isDatabaseId } from '../auth/gate.ts';
import type { BackupRules } from '../backup/backup-rules.ts';
import { placeProblems } from '../backup/open-destination.ts';
import type { TokenRequest, TokenRules } from '../auth/jwt.ts';
import { natsUrlProblem, type NatsOptions } from '../bus/nats-bus.ts';
import { isThreadCount, MAX_THREADS } from '../database/thread-count.ts';
import { proxyProblem } from '../auth/client-address.ts';
import { isHttpUrl } from '../auth/http-url.ts';
import { originProblem } from '../auth/origin.ts';
import { isRole, type Role } from '../auth/role.ts';
import { metricsTokenProblem, type MetricsAccess } from '../auth/metrics-access.ts';
import type { PostgresSource } from '../postgres/shard.ts';
import type { Retention } from '../log/retention.ts';
import {
  throwIfProblems,
  readBackupPlace,
  readCount,
  readDurationMs,
  readFile,
  readKeySet,
  readPort,
  readPostgresSource,
  readSchema,
  readSizeBytes,
  readAddress,
  readTokenFile,
  readPreviousSecret,
  readSecret,
} from './read-values.ts';
import { readSettings, type Settings, type Sources } from './settings.ts';

const MAX_DEFAULT_THREADS = 16;

const DATA: Settings = { data: { takes: 'text', help: 'the data directory' } };
const POSTGRES: Settings = {
  postgres: {
    takes: 'text',
    help: 'postgresql://user@host/name: store everything in PostgreSQL, for several instances. Pass a URL with a password in the environment',
  },
};
const SHARDS: Settings = {
  shards: {
    takes: 'text',
    help: 'a JSON file that lists the PostgreSQL servers to divide databases among: [{ "name", "url", "weight" }, …], instead of --postgres',
  },
};
const BUS: Settings = {
  bus: {
    takes: 'list',
    help: 'nats://host:4222: NATS carries messages between instances instead of PostgreSQL; repeat it for the servers of a cluster. Pass a URL with a password in the environment',
  },
  'instance-url': {
    takes: 'text',
    help: 'the URL of /sync that other instances use to reach this one, such as http://10.0.0.5:4400/sync; default: its address and port',
  },
  'bus-credentials-file': { takes: 'text', help: 'the .creds file for NATS' },
};
const SCHEMA: Settings = { schema: { takes: 'text', help: 'the schema file that the app’s build writes' } };
const SECRET: Settings = {
  'secret-file': { takes: 'text', help: 'at least 32 random bytes that sign and check tokens' },
  secret: { takes: 'text', secret: true, help: 'the secret itself, instead of a file' },
};
const PREVIOUS_SECRET: Settings = {
  'previous-secret-file': {
    takes: 'text',
    help: 'the previous secret, whose tokens are accepted until this setting is removed',
  },
};
const TOKEN_RULES: Settings = {
  issuer: {
    takes: 'text',
    help: 'the iss claim that tokens must have, except those of --oidc-issuer; default rockpool-server',
  },
  audience: { takes: 'text', help: 'the aud claim that tokens must have; default rockpool' },
};

const BACKUP_PLACE: Settings = {
  'backup-endpoint': {
    takes: 'text',
    help: 'the URL of S3-compatible storage other than AWS; default AWS_ENDPOINT_URL_S3, or AWS',
  },
  'backup-region': { takes: 'text', help: 'the region of the bucket; default AWS_REGION, or us-east-1' },
  'backup-path-style': {
    takes: 'nothing',
    help: 'puts the bucket into the path of URLs instead of the host name, as most storage other than AWS needs',
  },
};

export const SERVE_SETTINGS: Settings = {
  ...DATA,
  ...POSTGRES,
  ...SHARDS,
  ...BUS,
  ...SCHEMA,
  threads: {
    takes: 'text',
    help: 'the threads that own databases; default the number of cores, at most 16. With 1, the thread that accepts connections owns them',
  },
  port: { takes: 'text', help: 'the port to listen on; 0 chooses a free one' },
  host: { takes: 'text', help: 'the address to listen on; default 127.0.0.1' },
  ...SECRET,
  ...PREVIOUS_SECRET,
  'key-set': {
    takes: 'text',
    help: 'the JWKS of an identity provider (RS256, PS256, ES256, ES384, EdDSA): a URL or a file',
  },
  'oidc-issuer': { takes: 'text', help: 'the issuer URL of an OpenID Connect provider, which names its JWKS' },
  ...TOKEN_RULES,
  origin: { takes: 'list', help: 'an origin, besides the server’s own, whose pages may connect; may be repeated' },
  'trusted-proxy': {
    takes: 'list',
    help: 'the address or network of a reverse proxy on another machine, whose X-Forwarded-For names the client; may be repeated',
  },
  'metrics-address': {
    takes: 'text',
    help: 'HOST:PORT to serve /metrics on, with the largest tenants by name, instead of on the main port',
  },
  'metrics-token-file': {
    takes: 'text',
    help: 'a file with the token that /metrics requires, of at least 16 characters; with it, metrics name the largest tenants',
  },
  'admin-token-file': {
    takes: 'text',
    help: 'turns on the admin API and the page at /admin, and names the file with the token that they require, of at least 32 characters',
  },
  'admin-address': {
    takes: 'text',
    help: 'HOST:PORT to serve /admin on, instead of on the main port; needs --admin-token-file',
  },
  tracing: {
    takes: 'nothing',
    help: 'records OpenTelemetry spans of pushes, with the SDK that NODE_OPTIONS=--import=FILE loads',
  },
  'history-role': {
    takes: 'text',
    help: 'the lowest role that may read versions and past states: owner, editor or viewer; default viewer',
  },
  'max-database-size': {
    takes: 'text',
    help: 'the maximum size of a database: a number and m or g, such as 2g; default unlimited',
  },
  'keep-deletes': {
    takes: 'text',
    help: 'how long tombstones are kept: a number and s, m, h or d; default 30d. A device that was offline for longer does a full resync',
  },
  'keep-conflicts': { takes: 'text', help: 'how long conflicts are kept; default 90d' },
  'max-conflicts': { takes: 'text', help: 'the largest number of conflicts kept in one database; default 10000' },
  'backup-to': {
    takes: 'text',
    help: 's3://BUCKET/PREFIX or a folder: copies every database there while it changes. For S3, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment',
  },
  'backup-interval': {
    takes: 'text',
    help: 'the time from a change to its copy: a number and s, m, h or d, at most 1d; default 1s',
  },
  'unload-after': {
    takes: 'text',
    help: 'keeps a database that nobody has opened for this time, such as 30d, only in the backup, and fetches it when it is opened; needs --backup-to',
  },
  'backup-keep': {
    takes: 'text',
    help: 'how far back a database can be restored to any second: a number and s, m, h or d; default 7d',
  },
  ...BACKUP_PLACE,
};

export const TOKEN_SETTINGS: Settings = {
  database: { takes: 'text', help: 'the database that the token opens' },
  ttl: { takes: 'text', help: 'the lifetime: a number and s, m, h or d' },
  role: { takes: 'text', help: 'owner, editor or viewer; default editor' },
  'read-only': { takes: 'nothing', help: 'short for --role viewer' },
  principal: { takes: 'text', help: 'the principal that the token names; default operator' },
  ...SECRET,
  ...TOKEN_RULES,
};

export const DATA_SETTINGS: Settings = { ...DATA, ...POSTGRES, ...SHARDS };
export const MOVE_SETTINGS: Settings = { ...SHARDS, to: { takes: 'text', help: 'the name of the shard to move to' } };
export const RESTORE_SETTINGS: Settings = {
  ...DATA_SETTINGS,
  from: { takes: 'text', help: 's3://BUCKET/PREFIX or the folder of a continuous backup' },
  ...BACKUP_PLACE,
  database: { takes: 'text', help: 'one database; default all of them, with the members' },
  at: { takes: 'text', help: 'a time such as 2026-03-01T12:00:07Z; default the newest copy' },
  replace: { takes: 'nothing', help: 'replaces databases that exist; their old files are kept beside them' },
};
export const DATABASES_SETTINGS: Settings = {
  ...DATA,
  ...POSTGRES,
  ...SHARDS,
  server: { takes: 'text', help: 'the URL of a running server with the admin API, instead of --data or --postgres' },
  'admin-token-file': { takes: 'text', help: 'a file with the token of its admin API' },
  confirm: { takes: 'text', help: 'the id or the identity again, to delete or replace a database of a running server' },
  at: {
    takes: 'text',
    help: 'a time such as 2026-03-01T12:00Z: the state that export writes, or that restore with --server restores',
  },
};
export const DOCTOR_SETTINGS: Settings = { ...DATA, ...POSTGRES, ...SHARDS, ...SCHEMA };

export interface ServeConfig extends TokenRules {
  readonly dataDir: string;
  readonly postgres?: PostgresSource;
  readonly nats?: NatsOptions;
  readonly instanceUrl?: string;
  readonly schema: Schema;
  readonly host: string;
  readonly port: number;
  readonly threads?: number;
  readonly origins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly metrics?: MetricsAccess;
  /** The address that serves the metrics instead of the main address. */
  readonly metricsAddress?: { readonly host: string; readonly port: number };
  readonly admin?: AdminAccess;
  /** The address that serves the admin API and page instead of the main address. */
  readonly adminAddress?: { readonly host: string; readonly port: number };
  readonly tracing?: boolean;
  readonly historyRole?: Role;
  readonly retention?: Partial<Retention>;
  readonly quotas?: { readonly maxDatabaseBytes: number };
  readonly backup?: BackupRules;
}

/** Throws `config-invalid` with every problem, one per line. */
export function readServeConfig(sources: Sources): ServeConfig {
  const problems: string[] = [];
  const given = readSettings(SERVE_SETTINGS, sources, problems);
  rejectPositionals(given.positionals, problems);
  const dataDir = given.required('data');
  const postgres = readPostgresSource(given, problems);
  const nats = readNats(given, postgres, problems);
  const instanceUrl = given.text('instance-url');
  if (instanceUrl !== '' && !isHttpUrl(instanceUrl))
    problems.push('--instance-url takes a URL such as http://10.0.0.5:4400/sync');
  const schema = readSchema(given.required('schema'), problems);
  const port = readPort(given.required('port'), problems);
  const threads =
    given.text('threads') === '' ? defaultThreads() : readCount('threads', given.text('threads'), problems);
  if (!isThreadCount(threads)) problems.push(`--threads takes a whole number from 1 to ${MAX_THREADS}`);
  const before = problems.length;
  const secret = readSecret(given, problems);
  const previousSecret = readPreviousSecret(given, secret, problems);
  const keySet = readKeySet(given.text('key-set'), problems);
  const oidcIssuer = given.text('oidc-issuer');
  if (oidcIssuer !== '' && !isHttpUrl(oidcIssuer))
    problems.push('--oidc-issuer takes a URL such as https://id.example.org');
  if (secret === undefined && keySet === undefined && oidcIssuer === '' && problems.length === before)
    problems.push('--secret-file, --key-set or --oidc-issuer is missing');
  const origins = given.list('origin');
  problems.push(...origins.map(originProblem).filter((problem) => problem !== null));
  const trustedProxies = given.list('trusted-proxy');
  problems.push(...trustedProxies.map(proxyProblem).filter((problem) => problem !== null));
  const metrics = readMetrics(given, problems);
  const admin = readAdmin(given, problems);
  const maxDatabaseBytes = readSizeBytes('max-database-size', given.text('max-database-size'), problems);
  const retention = readRetention(given, problems);
  const historyRole = given.text('history-role');
  if (historyRole !== '' && !isRole(historyRole)) problems.push('--history-role takes owner, editor or viewer');
  const backup = readBackup(given, sources.environment, problems);
  throwIfProblems(problems);
  return {
    dataDir,
    ...(postgres !== null && { postgres }),
    ...backup,
    ...(nats !== undefined && { nats }),
    ...(instanceUrl !== '' && { instanceUrl: instanceUrl.replace(/\/+$/, '') }),
    ...metrics,
    ...admin,
    ...(given.has('tracing') && { tracing: true }),
    ...(historyRole !== '' && { historyRole: historyRole as Role }),
    retention,
    ...(maxDatabaseBytes !== null && { quotas: { maxDatabaseBytes } }),
    schema: schema as Schema,
    host: given.text('host') || '127.0.0.1',
    port,
    threads,
    origins,
    trustedProxies,
    ...(secret && { secret }),
    ...(previousSecret && { previousSecret }),
    ...(oidcIssuer !== '' && { oidcIssuer }),
    ...(keySet && { keySet: keySet as NonNullable<TokenRules['keySet']> }),
    ...readTokenRules(given),
  };
}

function readNats(
  given: ReturnType<typeof readSettings>,
  postgres: PostgresSource | null,
  problems: string[],
): NatsOptions | undefined {
  const [servers, file] = [given.list('bus'), given.text('bus-credentials-file')];
  if (servers.length === 0) {
    if (file !== '') problems.push('--bus-credentials-file needs --bus');
    return undefined;
  }
  if (postgres === null) problems.push('--bus needs --postgres or --shards: a data directory has one instance');
  const problem = servers.map(natsUrlProblem).find((one) => one !== null);
  if (problem !== undefined) problems.push(`--bus takes ${problem}`);
  const credentials = file === '' ? null : readFile(file, 'bus-credentials-file', problems);
  return { servers, ...(credentials !== null && { credentials: new TextDecoder().decode(credentials) }) };
}

/** The main port serves metrics publicly, unless they have a token or their own address. */
function readMetrics(
  given: ReturnType<typeof readSettings>,
  problems: string[],
): Pick<ServeConfig, 'metrics' | 'metricsAddress'> {
  const [address, file] = [given.text('metrics-address'), given.text('metrics-token-file')];
  if (address !== '' && file !== '') problems.push('use --metrics-address or --metrics-token-file, not both');
  if (address !== '') return { metrics: 'none', metricsAddress: readAddress('metrics-address', address, problems) };
  return file === ''
    ? {}
    : { metrics: { token: readTokenFile('metrics-token-file', file, metricsTokenProblem, problems) } };
}

function readAdmin(
  given: ReturnType<typeof readSettings>,
  problems: string[],
): Pick<ServeConfig, 'admin' | 'adminAddress'> {
  const [address, file] = [given.text('admin-address'), given.text('admin-token-file')];
  if (address !== '' && file === '') problems.push('--admin-address needs --admin-token-file');
  if (file === '') return {};
  return {
    admin: { token: readTokenFile('admin-token-file', file, adminTokenProblem, problems) },
    ...(address !== '' && { adminAddress: readAddress('admin-address', address, problems) }),
  };
}

function readBackup(
  given: ReturnType<typeof readSettings>,
  environment: Sources['environment'],
  problems: string[],
): Pick<ServeConfig, 'backup'> {
  const [to, interval, keep, unload] = ['backup-to', 'backup-interval', 'backup-keep', 'unload-after'].map((name) =>
    given.text(name),
  ) as [string, string, string, string];
  if (to === '') {
    for (const name of ['backup-interval', 'backup-keep', 'unload-after', ...Object.keys(BACKUP_PLACE)])
      if (given.text(name) !== '' || given.has(name)) problems.push(`--${name} needs --backup-to`);
    return {};
  }
  if (given.text('postgres') !== '' || given.text('shards') !== '')
    problems.push('--backup-to copies files: back up PostgreSQL with its own tools, such as WAL archiving');
  const place = readBackupPlace(given, to);
  problems.push(...placeProblems(place, environment));
  return {
    backup: {
      ...place,
      ...(interval !== '' && { intervalMs: readDurationMs('backup-interval', interval, problems) }),
      ...(keep !== '' && { keepMs: readDurationMs('backup-keep', keep, problems) }),
      ...(unload !== '' && { unloadAfterMs: readDurationMs('unload-after', unload, problems) }),
    },
  };
}

/** One thread per core: more threads would take memory without being faster. */
function defaultThreads(): number {
  return Math.min(MAX_DEFAULT_THREADS, availableParallelism());
}

function readRetention(given: ReturnType<typeof readSettings>, problems: string[]): Partial<Retention> {
  const [tombstones, conflicts, count] = ['keep-deletes', 'keep-conflicts', 'max-conflicts'].map((name) =>
    given.text(name),
  ) as [string, string, string];
  return {
    ...(tombstones !== '' && { tombstonesMs: readDurationMs('keep-deletes', tombstones, problems) }),
    ...(conflicts !== '' && { conflictsMs: readDurationMs('keep-conflicts', conflicts, problems) }),
    ...(count !== '' && { maxConflicts: readCount('max-conflicts', count, problems) }),
  };
}

export interface TokenConfig {
  readonly secret: Uint8Array;
  readonly request: TokenRequest;
  readonly rules: Pick<TokenRules, 'issuer' | 'audience'>;
}

/** Throws `config-invalid` with every problem. */
export function readTokenConfig(sources: Sources): TokenConfig {
  const problems: string[] = [];
  const given = readSettings(TOKEN_SETTINGS, sources, problems);
  rejectPositionals(given.positionals, problems);
  const databaseId = given.required('database');
  if (databaseId !== '' && !isDatabaseId(databaseId))
    problems.push('--database takes up to 64 letters, digits, _ and -');
  const before = problems.length;
  const secret = readSecret(given, problems);
  if (secret === undefined && problems.length === before) problems.push('--secret-file is missing');
  const ttlMs = readDurationMs('ttl', given.required('ttl'), problems);
  if (given.has('read-only') && given.text('role') !== '') problems.push('use --role or --read-only, not both');
  const role = given.has('read-only') ? 'viewer' : given.text('role') || 'editor';
  if (!isRole(role)) problems.push('--role takes owner, editor or viewer');
  throwIfProblems(problems);
  const request = {
    databases: [databaseId],
    ttlMs,
    principal: given.text('principal') || 'operator',
    role: role as NonNullable<TokenRequest['role']>,
  };
  return { secret: secret as Uint8Array, request, rules: readTokenRules(given) };
}

function readTokenRules(given: ReturnType<typeof readSettings>): Pick<TokenRules, 'issuer' | 'audience'> {
  const issuer = given.text('issuer');
  const audience = given.text('audience');
  return { ...(issuer !== '' && { issuer }), ...(audience !== '' && { audience }) };
}

export function rejectPositionals(positionals: readonly string[], problems: string[]): void {
  for (const positional of positionals) problems.push(`unknown argument ${positional}`);
}
