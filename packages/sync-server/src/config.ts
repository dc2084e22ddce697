import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { decodeSchema, RockpoolError, type Schema } from '@rockpool/shared';
import { isDatabaseId } from './auth/database-id.ts';
import { originProblem } from './auth/origin.ts';
import type { Role } from './auth/role.ts';
import { secretFromFile, secretProblem } from './auth/secret.ts';

export interface ServeConfig {
  readonly dataDir: string;
  readonly schema: Schema;
  readonly secret: Uint8Array;
  readonly host: string;
  readonly port: number;
  readonly origins: readonly string[];
}

export interface TokenConfig {
  readonly secret: Uint8Array;
  readonly databaseId: string;
  readonly principal: string;
  readonly role: Role;
  readonly ttlMs: number;
}

export const USAGE = `rockpool-server --data DIR --schema FILE --port N --secret-file FILE [--host 127.0.0.1] [--origin URL]…
    Runs the sync server. --port 0 takes a free port. The secret file holds at least 32 random bytes or characters.

rockpool-server token --database ID --secret-file FILE --ttl 1h [--read-only] [--principal NAME]
    Prints a token that opens one database. --ttl: a number and s, m, h or d.
`;

/** Reads the flags of the server. Throws `config-invalid` with every problem at once, one a line. */
export function readServeConfig(flags: readonly string[]): ServeConfig {
  const problems: string[] = [];
  const { values } = parse(flags, problems, {
    data: { type: 'string' },
    schema: { type: 'string' },
    port: { type: 'string' },
    'secret-file': { type: 'string' },
    host: { type: 'string', default: '127.0.0.1' },
    origin: { type: 'string', multiple: true, default: [] },
  });
  const dataDir = required(values['data'], 'data', problems);
  const schemaFile = required(values['schema'], 'schema', problems);
  const schema = schemaFile === '' ? null : readSchema(schemaFile, problems);
  const port = readPort(required(values['port'], 'port', problems), problems);
  const secret = readSecret(required(values['secret-file'], 'secret-file', problems), problems);
  const origins = values['origin'] as string[];
  problems.push(...origins.map(originProblem).filter((problem) => problem !== null));
  failWith(problems);
  return { dataDir, schema: schema as Schema, secret, host: values['host'] as string, port, origins };
}

/** Reads the flags of `token`. Throws `config-invalid` with every problem at once. */
export function readTokenConfig(flags: readonly string[]): TokenConfig {
  const problems: string[] = [];
  const { values } = parse(flags, problems, {
    database: { type: 'string' },
    'secret-file': { type: 'string' },
    ttl: { type: 'string' },
    'read-only': { type: 'boolean', default: false },
    principal: { type: 'string', default: 'operator' },
  });
  const databaseId = required(values['database'], 'database', problems);
  if (databaseId !== '' && !isDatabaseId(databaseId)) problems.push('--database takes up to 64 letters, digits, _ and -');
  const secret = readSecret(required(values['secret-file'], 'secret-file', problems), problems);
  const ttlMs = readDurationMs(required(values['ttl'], 'ttl', problems), problems);
  failWith(problems);
  return { databaseId, secret, ttlMs, role: values['read-only'] === true ? 'viewer' : 'editor', principal: values['principal'] as string };
}

type Flags = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

function parse(flags: readonly string[], problems: string[], options: Flags): { values: Record<string, unknown> } {
  // Not strict, so that one unknown flag does not hide what else is wrong.
  const { values, positionals } = parseArgs({ args: [...flags], options, strict: false, allowPositionals: true });
  for (const name of Object.keys(values)) {
    const option = options[name];
    if (option === undefined) problems.push(`--${name} is not known`);
    else if (option.type === 'string' && [values[name]].flat().some((value) => typeof value !== 'string')) {
      problems.push(`--${name} needs a value`);
      delete values[name];
    }
  }
  for (const positional of positionals) problems.push(`${positional} is not known`);
  return { values: { ...Object.fromEntries(Object.entries(options).map(([name, option]) => [name, option.default])), ...values } };
}

function required(value: unknown, name: string, problems: string[]): string {
  if (typeof value === 'string' && value !== '') return value;
  const problem = `--${name} needs a value`;
  if (!problems.includes(problem)) problems.push(value === undefined ? `--${name} is missing` : problem);
  return '';
}

function readPort(text: string, problems: string[]): number {
  const port = Number(text);
  if (text !== '' && !(/^\d+$/.test(text) && port <= 65_535)) problems.push('--port takes a number from 0 to 65535');
  return port;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readDurationMs(text: string, problems: string[]): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const durationMs = Number(count) * (UNIT_MS[unit ?? ''] ?? 0);
  if (text !== '' && !(durationMs > 0)) problems.push('--ttl takes a number and s, m, h or d, such as 12h');
  return durationMs;
}

function readSecret(path: string, problems: string[]): Uint8Array {
  const content = path === '' ? null : readFile(path, 'secret-file', problems);
  const secret = secretFromFile(content ?? new Uint8Array(0));
  const weakness = content === null ? null : secretProblem(secret);
  if (weakness !== null) problems.push(`--secret-file: ${weakness}`);
  return secret;
}

function readSchema(path: string, problems: string[]): Schema | null {
  const content = readFile(path, 'schema', problems);
  if (content === null) return null;
  try {
    return decodeSchema(new TextDecoder().decode(content));
  } catch (error) {
    problems.push(`--schema: ${error instanceof RockpoolError ? (error.fields['problems'] ?? error.message) : 'the file cannot be read'}`);
    return null;
  }
}

function readFile(path: string, flag: string, problems: string[]): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch {
    problems.push(`--${flag}: ${path} cannot be read`);
    return null;
  }
}

function failWith(problems: readonly string[]): void {
  if (problems.length > 0) throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}
