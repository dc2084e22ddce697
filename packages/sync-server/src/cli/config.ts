import { availableParallelism } from 'node:os';
import type { Schema } from '@rockpool/shared';
import { isDatabaseId } from '../auth/gate.ts';
import type { TokenRequest, TokenRules } from '../auth/jwt.ts';
import { proxyProblem } from '../auth/client-address.ts';
import { originProblem } from '../auth/origin.ts';
import { isRole } from '../auth/role.ts';
import type { MetricsAccess } from '../auth/metrics-access.ts';
import type { Retention } from '../log/retention.ts';
import {
  throwIfProblems,
  readCount,
  readDurationMs,
  readKeySet,
  readPort,
  readPostgres,
  readSchema,
  readSizeBytes,
  readAddress,
  readMetricsToken,
  readPreviousSecret,
  readSecret,
} from './read-values.ts';
import { readSettings, type Settings, type Sources } from './settings.ts';

const MAX_DEFAULT_THREADS = 16;

const DATA: Settings = { data: { takes: 'text', help: 'the data directory' } };
const POSTGRES: Settings = {
  postgres: {
    takes: 'text',
    help: 'postgresql://user@host/name: store everything in PostgreSQL, for several instances. Pass a password by the environment',
  },
};
const SCHEMA: Settings = { schema: { takes: 'text', help: 'the schema file that the app’s build writes' } };
const SECRET: Settings = {
  'secret-file': { takes: 'text', help: 'at least 32 random bytes that sign and check tokens' },
  secret: { takes: 'text', secret: true, help: 'the secret itself, instead of a file' },
};
const PREVIOUS_SECRET: Settings = {
  'previous-secret-file': {
    takes: 'text',
    help: 'the secret before this one, whose tokens are accepted until this setting is removed',
  },
};
const TOKEN_RULES: Settings = {
  issuer: { takes: 'text', help: 'the required iss claim of tokens; default rockpool-server' },
  audience: { takes: 'text', help: 'the required aud claim of tokens; default rockpool' },
};

export const SERVE_SETTINGS: Settings = {
  ...DATA,
  ...POSTGRES,
  ...SCHEMA,
  threads: {
    takes: 'text',
    help: 'the threads that own databases; default the number of cores, at most 16. With 1, the thread that accepts connections owns them',
  },
  port: { takes: 'text', help: 'the port to listen on; 0 takes a free one' },
  host: { takes: 'text', help: 'the address to listen on; default 127.0.0.1' },
  ...SECRET,
  ...PREVIOUS_SECRET,
  'key-set': {
    takes: 'text',
    help: 'the JWKS of an identity provider (RS256, PS256, ES256, ES384, EdDSA): a URL or a file',
  },
  'oidc-issuer': { takes: 'text', help: 'the issuer URL of an OpenID Connect provider, which names its JWKS' },
  ...TOKEN_RULES,
  origin: { takes: 'list', help: 'another origin of pages that may connect; may be repeated' },
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
    help: 'a file with the token that /metrics requires; with it, metrics name the largest tenants',
  },
  'max-database-size': {
    takes: 'text',
    help: 'the size at which a database may no longer grow: a number and m or g, such as 2g; default unlimited',
  },
  'keep-deletes': {
    takes: 'text',
    help: 'how long tombstones are kept: a number and s, m, h or d; default 30d. A device that was away for longer does a full resync',
  },
  'keep-conflicts': { takes: 'text', help: 'how long conflicts are kept; default 90d' },
  'max-conflicts': { takes: 'text', help: 'the most conflicts kept in one database; default 10000' },
};

export const TOKEN_SETTINGS: Settings = {
  database: { takes: 'text', help: 'the database that the token opens' },
  ttl: { takes: 'text', help: 'the lifetime: a number and s, m, h or d' },
  role: { takes: 'text', help: 'owner, editor or viewer; default editor' },
  'read-only': { takes: 'nothing', help: 'the same as --role viewer' },
  principal: { takes: 'text', help: 'the user that the token names; default operator' },
  ...SECRET,
  ...TOKEN_RULES,
};

export const DATA_SETTINGS: Settings = { ...DATA, ...POSTGRES };
export const DOCTOR_SETTINGS: Settings = { ...DATA, ...POSTGRES, ...SCHEMA };

export interface ServeConfig extends TokenRules {
  readonly dataDir: string;
  readonly postgres?: string;
  readonly schema: Schema;
  readonly host: string;
  readonly port: number;
  readonly threads?: number;
  readonly origins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly metrics?: MetricsAccess;
  /** Where the metrics are served instead. */
  readonly metricsAddress?: { readonly host: string; readonly port: number };
  readonly retention?: Partial<Retention>;
  readonly quotas?: { readonly maxDatabaseBytes: number };
}

/** Throws `config-invalid` with every problem, one per line. */
export function readServeConfig(sources: Sources): ServeConfig {
  const problems: string[] = [];
  const given = readSettings(SERVE_SETTINGS, sources, problems);
  rejectPositionals(given.positionals, problems);
  const dataDir = given.required('data');
  const postgres = readPostgres(given.text('postgres'), problems);
  const schema = readSchema(given.required('schema'), problems);
  const port = readPort(given.required('port'), problems);
  const threads =
    given.text('threads') === '' ? defaultThreads() : readCount('threads', given.text('threads'), problems);
  if (threads < 1) problems.push('--threads takes a whole number of at least 1');
  const before = problems.length;
  const secret = readSecret(given, problems);
  const previousSecret = readPreviousSecret(given, secret, problems);
  const keySet = readKeySet(given.text('key-set'), problems);
  const oidcIssuer = given.text('oidc-issuer');
  if (oidcIssuer !== '' && !URL.canParse(oidcIssuer)) problems.push('--oidc-issuer takes a URL');
  if (secret === undefined && keySet === undefined && oidcIssuer === '' && problems.length === before)
    problems.push('--secret-file, --key-set or --oidc-issuer is missing');
  const origins = given.list('origin');
  problems.push(...origins.map(originProblem).filter((problem) => problem !== null));
  const trustedProxies = given.list('trusted-proxy');
  problems.push(...trustedProxies.map(proxyProblem).filter((problem) => problem !== null));
  const metrics = readMetrics(given, problems);
  const maxDatabaseBytes = readSizeBytes('max-database-size', given.text('max-database-size'), problems);
  const retention = readRetention(given, problems);
  throwIfProblems(problems);
  return {
    dataDir,
    ...(postgres !== '' && { postgres }),
    ...metrics,
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

/** The main port serves metrics to anyone, unless they have a token or an address of their own. */
function readMetrics(
  given: ReturnType<typeof readSettings>,
  problems: string[],
): Pick<ServeConfig, 'metrics' | 'metricsAddress'> {
  const [address, file] = [given.text('metrics-address'), given.text('metrics-token-file')];
  if (address !== '' && file !== '') problems.push('--metrics-address and --metrics-token-file exclude each other');
  if (address !== '') return { metrics: 'none', metricsAddress: readAddress('metrics-address', address, problems) };
  return file === '' ? {} : { metrics: { token: readMetricsToken(file, problems) } };
}

/** One thread per core: more cost memory and gain nothing. */
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
