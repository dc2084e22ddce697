import type { Schema } from '@rockpool/shared';
import { isDatabaseId } from '../auth/database-id.ts';
import type { TokenRequest, TokenRules } from '../auth/jwt.ts';
import { originProblem } from '../auth/origin.ts';
import { isRole } from '../auth/role.ts';
import type { Retention } from '../log/retention.ts';
import {
  failWith,
  readCount,
  readDurationMs,
  readKeySet,
  readPort,
  readPostgres,
  readSchema,
  readSecret,
} from './read-values.ts';
import { readSettings, type Settings, type Sources } from './settings.ts';

const DATA: Settings = { data: { takes: 'text', help: 'the data directory' } };
const POSTGRES: Settings = {
  postgres: {
    takes: 'text',
    help: 'postgresql://user@host/name: keep everything there instead, for several instances. A password is better in the environment',
  },
};
const SCHEMA: Settings = { schema: { takes: 'text', help: 'the schema file that the app’s build writes' } };
const SECRET: Settings = {
  'secret-file': { takes: 'text', help: 'at least 32 random bytes that sign and check tokens' },
  secret: { takes: 'text', secret: true, help: 'the same, where there is no file' },
};
const TOKEN_RULES: Settings = {
  issuer: { takes: 'text', help: 'what tokens must say as iss; default rockpool-server' },
  audience: { takes: 'text', help: 'what tokens must say as aud; default rockpool' },
};

export const SERVE_SETTINGS: Settings = {
  ...DATA,
  ...POSTGRES,
  ...SCHEMA,
  port: { takes: 'text', help: '0 takes a free one' },
  host: { takes: 'text', help: 'the address to listen on; default 127.0.0.1' },
  ...SECRET,
  'key-set': { takes: 'text', help: 'a JWKS of an identity provider (ES256, EdDSA): its URL or a file' },
  ...TOKEN_RULES,
  origin: { takes: 'list', help: 'pages of this origin may connect too; may be repeated' },
  'keep-deletes': { takes: 'text', help: 'who was away for longer reloads: a number and s, m, h or d; default 30d' },
  'keep-conflicts': { takes: 'text', help: 'how long conflicts can be looked at and restored; default 90d' },
  'max-conflicts': { takes: 'text', help: 'and how many at most in one database; default 10000' },
};

export const TOKEN_SETTINGS: Settings = {
  database: { takes: 'text', help: 'the database that it opens' },
  ttl: { takes: 'text', help: 'how long: a number and s, m, h or d' },
  role: { takes: 'text', help: 'owner, editor or viewer; default editor' },
  'read-only': { takes: 'nothing', help: 'the same as --role viewer' },
  principal: { takes: 'text', help: 'who it is for; default operator' },
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
  readonly origins: readonly string[];
  readonly retention?: Partial<Retention>;
}

/** Throws `config-invalid` with every problem at once, one a line. */
export function readServeConfig(sources: Sources): ServeConfig {
  const problems: string[] = [];
  const given = readSettings(SERVE_SETTINGS, sources, problems);
  rejectPositionals(given.positionals, problems);
  const dataDir = given.required('data');
  const postgres = readPostgres(given.text('postgres'), problems);
  const schema = readSchema(given.required('schema'), problems);
  const port = readPort(given.required('port'), problems);
  const before = problems.length;
  const secret = readSecret(given, problems);
  const keySet = readKeySet(given.text('key-set'), problems);
  if (secret === undefined && keySet === undefined && problems.length === before)
    problems.push('--secret-file or --key-set is missing');
  const origins = given.list('origin');
  problems.push(...origins.map(originProblem).filter((problem) => problem !== null));
  const retention = readRetention(given, problems);
  failWith(problems);
  return {
    dataDir,
    ...(postgres !== '' && { postgres }),
    retention,
    schema: schema as Schema,
    host: given.text('host') || '127.0.0.1',
    port,
    origins,
    ...(secret && { secret }),
    ...(keySet && { keySet: keySet as NonNullable<TokenRules['keySet']> }),
    ...readTokenRules(given),
  };
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

/** Throws `config-invalid` with every problem at once. */
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
  if (!isRole(role)) problems.push('--role is owner, editor or viewer');
  failWith(problems);
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
  for (const positional of positionals) problems.push(`${positional} is not known`);
}
